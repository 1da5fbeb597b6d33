// All commands of the program, with their options.
#pragma once

#include <memory>

namespace CLI {
class App;
}

namespace facesat::app {

class Commands {
 public:
  Commands();
  ~Commands();

  // The parser, which also knows the names and meanings of all commands and options.
  CLI::App& parser() { return *parser_; }
  // Runs the command that has been parsed, and returns the exit status.
  int run() const;

 private:
  struct Parsed;  // each command's own options

  std::unique_ptr<Parsed> parsed_;  // the parser refers to it
  std::unique_ptr<CLI::App> parser_;
};

}  // namespace facesat::app
