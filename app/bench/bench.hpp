// facesat bench: all benchmarks.
#pragma once

#include <vector>

#include "app/commands.hpp"

namespace facesat::app {

// Adds `bench` and its subcommands, which it returns.
std::vector<Command> add_bench(CLI::App& program);

}  // namespace facesat::app
