// What the values of options on the command line may be.
#pragma once

#include <charconv>
#include <cstdint>
#include <limits>
#include <map>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace facesat::app {

// An option that takes one of the words, in small or capital letters; `value` becomes what it
// stands for. What is wrong with it is reported with the option's name.
template <class Value>
CLI::Option* add_choice(CLI::App& command, const std::string& name, Value& value,
                        const std::map<std::string, Value>& words, const std::string& help) {
  std::string all;
  for (const auto& [word, meaning] : words) all += (all.empty() ? "" : "|") + word;
  const auto parse = [name, words, all, &value](const std::string& text) {
    const auto found = words.find(CLI::detail::to_lower(text));
    if (found == words.end())
      throw CLI::ValidationError(fmt::format("{}: expected {}, not \"{}\"", name, all, text));
    value = found->second;
  };
  return command.add_option_function<std::string>(name, parse, help)->type_name(all);
}

// Accepts decimal numbers from `least` to `most` as an option's value.
inline CLI::Validator whole_number(std::int64_t least,
                                   std::int64_t most = std::numeric_limits<std::int64_t>::max()) {
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

// Makes all options and arguments of `command` and its subcommands refuse empty values, which would
// count as 0 or as not given.
inline void refuse_empty_values(CLI::App& command) {
  for (CLI::Option* option : command.get_options())
    if (option->get_items_expected_max() > 0)
      option->check(CLI::Validator(
          [](std::string& text) {
            return text.empty() ? std::string("a value is missing") : std::string();
          },
          ""));
  for (CLI::App* subcommand : command.get_subcommands({})) refuse_empty_values(*subcommand);
}

}  // namespace facesat::app
