// --shard: which part of the inputs this run takes, as given or as the program that started the
// ranks says.
#pragma once

#include <functional>
#include <string>

#include "results/shard.hpp"

namespace facesat::app {

// The value of an environment variable; null if it is not set.
using Environment = std::function<const char*(const char* name)>;

// "I/N", or "auto" for what `environment` says. The rank is that of Open MPI, else of PMI, else of
// srun: the more specific first, because mpirun may run within a Slurm job. In a Slurm job array
// every rank of every element is a shard of its own. Throws UsageError.
Shard parse_shard(const std::string& text, const Environment& environment);

// The name of an output with "{shard}" replaced by the shard, as in "2-of-8".
std::string name_of_shard(std::string output, const Shard& shard);

}  // namespace facesat::app
