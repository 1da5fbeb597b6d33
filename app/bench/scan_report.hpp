// The HTML page that shows the results of `facesat bench scan`.
#pragma once

#include <span>
#include <string>

#include <nlohmann/json.hpp>

#include "kernels/scan/algorithm.hpp"

namespace facesat::app {

struct ScanReport {
  nlohmann::ordered_json rows;                            // as in `facesat bench scan --json`
  nlohmann::ordered_json machine;                         // from machine_json()
  std::string command;                                    // the command line; empty: unknown
  std::span<const gpu::ScanAlgorithm* const> algorithms;  // to look up titles and papers
};

// A page like that of `facesat bench sat` (sat_report.hpp), with the same charts and tables for
// each type of elements. An algorithm that has rows with different settings at one size is shown as
// "id:settings".
std::string to_html(const ScanReport& report);

}  // namespace facesat::app
