// The commands `facesat bench sat`, `scan`, `tasks` and `filter`: one for each Problem.
#pragma once

#include <memory>

#include "lab/problem.hpp"

namespace CLI {
class App;
}

namespace facesat::app {

// A subcommand of `facesat bench`.
class ProblemCommand {
 public:
  // Adds it to the parser, which must not outlive this object.
  ProblemCommand(CLI::App& bench, std::unique_ptr<lab::Problem> problem);

  bool is_chosen() const;  // after parsing
  // Measures, prints and writes files. Returns the exit status: 1 if a result is wrong or could not
  // be measured. Throws UsageError, OutputError.
  int run();

 private:
  std::unique_ptr<lab::Problem> problem_;
  std::unique_ptr<lab::Request> request_;  // at an address that the parser keeps
  CLI::App* parser_;
};

}  // namespace facesat::app
