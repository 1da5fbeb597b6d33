// The kernels of the algorithms that `facesat bench sat --kernels` shows.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "kernels/bench/sat_bench.hpp"

namespace facesat::app {

// The member "kernels" of an algorithm's row: an array with an object for each launch.
nlohmann::ordered_json kernels_json(const std::vector<gpu::SatBenchLaunch>& launches);

// The table that is printed for the rows, with a line for each of their kernels; rows without
// "kernels" have none.
std::string kernels_table(const nlohmann::ordered_json& rows);

}  // namespace facesat::app
