// The page that a run of `facesat bench sat` can be read on.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "kernels/sat/algorithm.hpp"

namespace facesat::app {

struct SatReport {
  nlohmann::ordered_json rows;                           // as `facesat bench sat --json` has them
  nlohmann::ordered_json machine;                        // as machine_json() makes it
  std::string command;                                   // the command line; empty: not known
  std::span<const gpu::SatAlgorithm* const> algorithms;  // whose titles and papers are shown
};

// One file of HTML, well-formed as XML too, that needs nothing else and no scripts: for each type
// the ratios to the floor against the size, the times in order, times against the model where rows
// have "model_us", and all figures as tables; and the rows and the machine once more as JSON, in
// the element with the id "data". Fields that a row lacks are left out. The same report makes the
// same text.
std::string to_html(const SatReport& report);

}  // namespace facesat::app
