// Building blocks of the command lines of all commands. CLI11 takes seconds to compile, so only the
// files that declare options include this header; others just declare CLI::App.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "core/image.hpp"
#include "facesat.hpp"

namespace facesat::app {

// Adds an option that takes one of the words, in upper or lower case; `value` is set to the word's
// meaning. Error messages include the option's name.
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

// Adds an option that takes a size, "N" (a square) or "WxH". Error messages include the option's
// name.
CLI::Option* add_size(CLI::App& command, const char* name, Size& size, const char* help);

// Adds --backend, --device and --sat.
void add_backend_options(CLI::App& command, BackendOptions& options);

// Accepts decimal numbers from `least` to `most` as an option's value.
CLI::Validator whole_number(std::int64_t least,
                            std::int64_t most = std::numeric_limits<std::int64_t>::max());

// Makes all options and arguments of `command` and its subcommands reject empty values, which would
// otherwise count as 0 or as not given.
void refuse_empty_values(CLI::App& command);

}  // namespace facesat::app
