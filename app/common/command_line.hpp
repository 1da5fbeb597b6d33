// Building blocks of the command lines of all commands. CLI11 takes seconds to compile, so only the
// files that declare options include this header; others just declare CLI::App.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "app/common/fields.hpp"
#include "core/image.hpp"
#include "core/parse_number.hpp"
#include "facesat.hpp"
#include "library/training.hpp"

namespace facesat::app {

// The words of a choice, as help and error messages list them.
template <class Value>
std::string listed(const std::map<std::string, Value>& words) {
  std::string all;
  for (const auto& [word, meaning] : words) all += (all.empty() ? "" : "|") + word;
  return all;
}
// The meaning of a word, in upper or lower case. The message of the error includes the option's
// name.
template <class Value>
const Value& meaning_of(const std::string& text, const std::string& option,
                        const std::map<std::string, Value>& words) {
  const auto found = words.find(CLI::detail::to_lower(text));
  if (found == words.end())
    throw CLI::ValidationError(
        fmt::format("{}: expected {}, not \"{}\"", option, listed(words), text));
  return found->second;
}

// Adds an option that takes one of the words, and calls set() with the word's meaning.
template <class Value, class Set>
CLI::Option* add_choice(CLI::App& command, const std::string& name,
                        const std::map<std::string, Value>& words, const std::string& help,
                        Set set) {
  const auto parse = [name, words, set](const std::string& text) {
    set(meaning_of(text, name, words));
  };
  return command.add_option_function<std::string>(name, parse, help)->type_name(listed(words));
}
template <class Value>
CLI::Option* add_choice(CLI::App& command, const std::string& name, Value& value,
                        const std::map<std::string, Value>& words, const std::string& help) {
  return add_choice(command, name, words, help, [&value](const Value& chosen) { value = chosen; });
}

// Adds an option that may be given several times, each time with one of the words.
template <class Value>
CLI::Option* add_choices(CLI::App& command, const std::string& name, std::vector<Value>& values,
                         const std::map<std::string, Value>& words, const std::string& help) {
  const auto parse = [name, words, &values](const std::vector<std::string>& texts) {
    for (const std::string& text : texts) values.push_back(meaning_of(text, name, words));
  };
  return command.add_option_function<std::vector<std::string>>(name, parse, help)
      ->type_name(listed(words))
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);  // see add_repeatable()
}

// Adds an option that takes a size, "N" (a square) or "WxH". Error messages include the option's
// name.
CLI::Option* add_size(CLI::App& command, const std::string& name, Size& size,
                      const std::string& help);

// Adds an option that may be given several times, each time with one value.
CLI::Option* add_repeatable(CLI::App& command, const std::string& name,
                            std::vector<std::string>& values, const std::string& type,
                            const std::string& help);

CLI::Option* add_file(CLI::App& command, const std::string& name, std::string& file,
                      const std::string& help);

// Adds the option of a field, or those of a table; `options` gets the values.
template <class Options>
CLI::Option* add_field(CLI::App& command, Options& options, const Field<Options>& field) {
  const auto name = fmt::format("--{}", field.name);
  const std::string help(field.help);
  const auto add = [&]<class Value>(const Value& value) -> CLI::Option* {
    if constexpr (std::is_same_v<Value, Choice<Options>>) {
      std::map<std::string, int> words;
      for (const std::string_view word : value.words)
        words.emplace(word, static_cast<int>(words.size()));
      return add_choice(command, name, words, help,
                        [&options, set = value.set](int index) { set(options, index); });
    } else if constexpr (std::is_same_v<Value, Size Options::*>) {
      return add_size(command, name, options.*value, help);
    } else if constexpr (std::is_same_v<Value, bool Options::*>) {
      return command.add_flag(name, options.*value, help);
    } else {
      return command.add_option(name, options.*value, help)->type_name(std::string(field.type));
    }
  };
  return std::visit(add, field.value);
}
template <class Options>
void add_fields(CLI::App& command, Options& options, const std::vector<Field<Options>>& fields) {
  for (const Field<Options>& field : fields) add_field(command, options, field);
}

// The same, of a number that must be in its range, if it is one of those with a range.
template <class Options>
CLI::Option* add_ranged_field(CLI::App& command, Options& options, const Field<Options>& field,
                              const std::vector<Range<Options>>& ranges) {
  CLI::Option* const option = add_field(command, options, field);
  const auto range = std::ranges::find(ranges, field.key(), &Range<Options>::name);
  if (range == ranges.end()) return option;
  const auto check = [range = *range](const std::string& text) {
    const bool is_whole = range.member.index() == 0;
    const auto whole = parse_number<std::int64_t>(text);
    const auto number = is_whole && whole ? std::optional(static_cast<double>(*whole))
                        : is_whole        ? std::nullopt
                                          : parse_number<double>(text);
    return number && range.has(*number)
               ? std::string()
               : fmt::format("expected {}, not \"{}\"", range.text(), text);
  };
  return option->check(CLI::Validator(check, ""));
}

// The options that are added from now until it is destroyed have this heading in the help.
class Heading {
 public:
  Heading(CLI::App& command, const std::string& heading) : command_(command) {
    command_.option_defaults()->group(heading);
  }
  ~Heading() { command_.option_defaults()->group("Options"); }
  Heading(const Heading&) = delete;
  Heading& operator=(const Heading&) = delete;

 private:
  CLI::App& command_;
};

// Accepts decimal numbers from `least` to `most` as an option's value.
CLI::Validator whole_number(std::int64_t least,
                            std::int64_t most = std::numeric_limits<std::int64_t>::max());

// The name of a command that has been parsed, with its options and arguments as they could be
// typed.
std::string line_of(const CLI::App& command);

// Makes all options and arguments of `command` and its subcommands reject empty values, which would
// otherwise count as 0 or as not given.
void refuse_empty_values(CLI::App& command);

}  // namespace facesat::app
