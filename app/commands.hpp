// All commands of the program, with their options.
#pragma once

#include <functional>
#include <memory>
#include <vector>

namespace CLI {
class App;
}

namespace facesat::app {

struct Command {
  const CLI::App* parser;
  std::function<int()> run;  // after parsing; returns the exit status
};

// Adds a command whose options are an object of type Options: add() adds it to `parent`.
template <class Options>
Command make_command(CLI::App& parent, CLI::App* (*add)(CLI::App&, Options&),
                     int (*run)(const Options&)) {
  const auto options = std::make_shared<Options>();
  return {add(parent, *options), [options, run] { return run(*options); }};
}

class Commands {
 public:
  Commands();
  ~Commands();

  // The parser, which also knows the names and meanings of all commands and options.
  CLI::App& parser() { return *parser_; }
  // Runs the command that has been parsed, and returns the exit status.
  int run() const;

 private:
  std::vector<Command> commands_;
  std::unique_ptr<CLI::App> parser_;  // refers to the options of the commands
};

}  // namespace facesat::app
