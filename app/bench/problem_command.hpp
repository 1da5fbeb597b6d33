// The commands `facesat bench sat`, `scan`, `tasks`, `filter` and `histogram`: one for each
// Problem.
#pragma once

#include <memory>

#include "app/commands.hpp"
#include "lab/problem.hpp"

namespace facesat::app {

// Adds a subcommand of `facesat bench`, which measures, prints and writes files. Its exit status is
// 1 if a result is wrong or could not be measured. It throws UsageError and OutputError.
Command make_problem_command(CLI::App& bench, std::unique_ptr<lab::Problem> problem);

}  // namespace facesat::app
