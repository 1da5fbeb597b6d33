#include "app/common/command_line.hpp"

#include <charconv>

#include "support/errors.hpp"
#include "support/text.hpp"

namespace facesat::app {

CLI::Option* add_size(CLI::App& command, const char* name, Size& size, const char* help) {
  const auto parse = [name, &size](const std::string& text) {
    try {
      size = parse_size(text);
    } catch (const UsageError& error) {
      throw CLI::ValidationError(std::string(name) + ": " + error.what());
    }
  };
  return command.add_option_function<std::string>(name, parse, help)->type_name("N|WxH");
}

void add_backend_options(CLI::App& command, BackendOptions& options) {
  add_choice<BackendChoice>(command, "--backend", options.choice,
                            {{"auto", BackendChoice::automatic},
                             {"cpu", BackendChoice::cpu},
                             {"cuda", BackendChoice::cuda}},
                            "auto: CUDA where there is a usable device, else the CPU [auto]");
  command
      .add_option("--device", options.device,
                  "CUDA device, as 'facesat info' numbers them; all: every one [0]")
      ->type_name("N|all");
  command
      .add_option("--sat", options.sat,
                  "SAT algorithm of the GPU, as 'facesat info' lists them; ID:VALUE sets its "
                  "parameter [the "
                  "fastest]")
      ->type_name("ID");
}

CLI::Validator whole_number(std::int64_t least, std::int64_t most) {
  const auto check = [least, most](const std::string& text) {
    std::int64_t number = 0;
    const char* const end = text.data() + text.size();
    const auto [at, error] = std::from_chars(text.data(), end, number);
    if (error == std::errc() && at == end && number >= least && number <= most)
      return std::string();
    const bool is_open = most == std::numeric_limits<std::int64_t>::max();
    return is_open ? fmt::format("expected a whole number of at least {}, not \"{}\"", least, text)
                   : fmt::format("expected a whole number from {} to {}, not \"{}\"", least, most,
                                 text);
  };
  return CLI::Validator(check, "");
}

void refuse_empty_values(CLI::App& command) {
  for (CLI::Option* option : command.get_options())
    if (option->get_items_expected_max() > 0)  // flags take no value
      option->check(CLI::Validator(
          [](std::string& text) {
            return text.empty() ? std::string("a value is missing") : std::string();
          },
          ""));
  for (CLI::App* subcommand : command.get_subcommands({})) refuse_empty_values(*subcommand);
}

}  // namespace facesat::app
