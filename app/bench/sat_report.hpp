// The HTML page that shows the results of `facesat bench sat`.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "kernels/sat/algorithm.hpp"

namespace facesat::app {

struct SatReport {
  nlohmann::ordered_json rows;                           // as in `facesat bench sat --json`
  nlohmann::ordered_json machine;                        // from machine_json()
  std::string command;                                   // the command line; empty: unknown
  std::span<const gpu::SatAlgorithm* const> algorithms;  // to look up titles and papers
};

// One self-contained HTML file without scripts, also well-formed as XML. For each type it shows the
// ratios to the floor against the size, the times in order, the times against the model for rows
// with "model_us", and all figures as tables. The element with the id "data" holds the rows and the
// machine as JSON. Fields that a row lacks are left out. Equal reports give equal text.
std::string to_html(const SatReport& report);

}  // namespace facesat::app
