#include "app/common/command_line.hpp"

#include "core/parse_number.hpp"
#include "support/errors.hpp"
#include "support/text.hpp"

namespace facesat::app {

CLI::Option* add_size(CLI::App& command, const std::string& name, Size& size,
                      const std::string& help) {
  const auto parse = [name, &size](const std::string& text) {
    try {
      size = parse_size(text);
    } catch (const UsageError& error) {
      throw CLI::ValidationError(name + ": " + error.what());
    }
  };
  return command.add_option_function<std::string>(name, parse, help)->type_name("N|WxH");
}

CLI::Option* add_repeatable(CLI::App& command, const std::string& name,
                            std::vector<std::string>& values, const std::string& type,
                            const std::string& help) {
  return command.add_option(name, values, help)
      ->type_name(type)
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);  // else arguments would be parsed as further values
}

CLI::Option* add_file(CLI::App& command, const std::string& name, std::string& file,
                      const std::string& help) {
  return command.add_option(name, file, help)->type_name("FILE");
}

CLI::Validator whole_number(std::int64_t least, std::int64_t most) {
  const auto check = [least, most](const std::string& text) {
    const auto number = parse_number<std::int64_t>(text);
    if (number && *number >= least && *number <= most) return std::string();
    const bool is_open = most == std::numeric_limits<std::int64_t>::max();
    return is_open ? fmt::format("expected a whole number of at least {}, not \"{}\"", least, text)
                   : fmt::format("expected a whole number from {} to {}, not \"{}\"", least, most,
                                 text);
  };
  return CLI::Validator(check, "");
}

std::string line_of(const CLI::App& command) {
  std::string options = command.get_name(), arguments;
  for (const CLI::Option* option : command.get_options())
    for (const std::string& value : option->results()) {
      if (option->get_positional())
        arguments += " " + value;
      else
        options += fmt::format(" {}{}", option->get_name(),
                               option->get_items_expected_max() > 0 ? " " + value : "");
    }
  return options + arguments;
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
