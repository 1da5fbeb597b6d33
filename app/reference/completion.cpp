#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/reference/reference.hpp"

namespace facesat::app {
namespace {

// Commands are compared with a space after them: "bench sat ".
constexpr const char* head = R"(# Completion of facesat's command line by bash.

_facesat() {
  local cur prev words cword split
  _init_completion -s -n : || return

  local command='' word
  for word in "${words[@]:1:cword-1}"; do
    case "$command$word" in
)";

constexpr const char* helpers = R"(
_facesat_words() {
  mapfile -t COMPREPLY < <(compgen -W "$1" -- "$cur")
  __ltrim_colon_completions "$cur"
}

_facesat_cascades() {
  local names files
  names=$("${words[0]}" cascades 2>/dev/null | awk 'NR > 1 { print $1 }')
  _filedir xml
  files=("${COMPREPLY[@]}")
  _facesat_words "$names"
  COMPREPLY+=("${files[@]}")
}

complete -F _facesat facesat
)";

bool is_choice(const std::string& value) {
  return value.find('|') != value.npos &&
         std::none_of(value.begin(), value.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
}

// What completes a value of this kind; nothing if it can only be typed.
std::string completed(std::string value, const std::vector<std::string>& ids,
                      const std::vector<std::string>& types) {
  if (is_choice(value)) {
    std::replace(value.begin(), value.end(), '|', ' ');
    return fmt::format("_facesat_words '{}'", value);
  }
  if (value == "ID") return fmt::format("_facesat_words '{}'", fmt::join(ids, " "));
  if (value == "TYPE") return fmt::format("_facesat_words '{}'", fmt::join(types, " "));
  if (value == "FILE") return "_filedir";
  if (value == "DIR") return "_filedir -d";
  if (value.starts_with("NAME")) return "_facesat_cascades";
  return "";
}

std::string after(const CommandText& command) {
  return command.name.empty() ? "" : command.name + " ";
}

// The branch of a case that stands for these words of the command line.
std::string branch(const std::string& pattern, const std::string& action) {
  return fmt::format("    '{}') {}{};;\n", pattern, action, action.empty() ? "" : " ");
}

}  // namespace

std::string bash_completion(const std::vector<CommandText>& commands,
                            const std::vector<std::string>& ids,
                            const std::vector<std::string>& types) {
  std::string script = head, values, words, rest;
  for (const CommandText& command : commands) {
    const std::string name = after(command);
    for (const std::string& subcommand : command.subcommands)
      script += branch(name + subcommand, fmt::format("command='{}{} '", name, subcommand));
    std::string all = "--help";
    for (const OptionText& option : command.options) {
      all += " " + option.names.back();
      if (option.value.empty()) continue;
      for (const std::string& spelling : option.names)
        values += branch(name + spelling, completed(option.value, ids, types) + "\n      return");
    }
    words += branch(name, fmt::format("_facesat_words '{}'", all));
    if (!command.subcommands.empty())
      rest += branch(name, fmt::format("_facesat_words '{}'", fmt::join(command.subcommands, " ")));
    else if (!command.arguments.empty())
      rest += branch(name,
                     command.arguments.front().value == "NAME" ? "_facesat_cascades" : "_filedir");
  }
  script += "    esac\n  done\n";
  script += "\n  case \"$command$prev\" in  # an option's value\n" + values + "  esac\n";
  script += "  $split && return\n";
  script += "\n  if [[ $cur == -* ]]; then\n    case \"$command\" in\n" + words +
            "    esac\n    return\n  fi\n";
  script += "  case \"$command\" in\n" + rest + "  esac\n}\n";
  return script + helpers;
}

}  // namespace facesat::app
