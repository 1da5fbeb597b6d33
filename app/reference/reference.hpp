// The command line as the manual page, facesat(1), and the completion by bash describe it.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace facesat::app {

struct OptionText {
  std::vector<std::string> names;  // with their hyphens; the long one last; none for an argument
  std::string value;  // "FILE", or "auto|cpu|cuda"; empty for flags. An argument's own name
  std::string meaning;
  bool required = false, repeats = false;
};

struct CommandText {
  std::string name;  // "bench sat"
  std::string meaning, footer;
  std::vector<OptionText> options, arguments;
  std::vector<std::string> subcommands;
  bool needs_subcommand = false;
};

// All commands in the order of the help, each before its subcommands. The program itself is the
// first; its name is empty. Options for help are left out.
std::vector<CommandText> command_list(CLI::App& program);

// A script for the package bash-completion. `ids` are the SAT algorithms, `types` the types of
// pictures and tables that options offer.
std::string bash_completion(const std::vector<CommandText>& commands,
                            const std::vector<std::string>& ids,
                            const std::vector<std::string>& types);

// The page in the language of man(7). `page` has everything that the command line does not know;
// "@VERSION@" in it is replaced by the version, and the lines "@SYNOPSIS@" and "@COMMANDS@" by what
// the commands and their options are. Throws ArgumentError if one of them is missing.
std::string man_page(std::string page, const std::vector<CommandText>& commands);

}  // namespace facesat::app
