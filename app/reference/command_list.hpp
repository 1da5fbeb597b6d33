// What the manual page and the completion of the shell know of the command line.
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

}  // namespace facesat::app
