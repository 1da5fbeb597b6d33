// The commands `facesat bench sat`, `scan`, `tasks` and `filter`: one for each Problem.
#pragma once

#include <memory>
#include <vector>

#include "lab/problem.hpp"

namespace CLI {
class App;
}

namespace facesat::lab {

// A subcommand of `facesat bench`.
class Command {
 public:
  // Adds it to the parser, which must not outlive this object.
  Command(CLI::App& bench, std::unique_ptr<Problem> problem);

  bool is_chosen() const;  // after parsing
  // Measures, prints and writes files. Returns the exit status: 1 if a result is wrong or could not
  // be measured. Throws UsageError, OutputError.
  int run();

 private:
  std::unique_ptr<Problem> problem_;
  std::unique_ptr<Request> request_;  // at an address that the parser keeps
  CLI::App* parser_;
};

// Of all problems, in the order of the help.
std::vector<std::unique_ptr<Problem>> all_problems();

}  // namespace facesat::lab
