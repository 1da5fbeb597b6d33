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

// One self-contained HTML file without scripts, also well-formed as XML. For each type it plots the
// time relative to the floor (a kernel that only reads the picture and writes the tables) over the
// size, lists the times from the fastest to the slowest, plots measured over modelled times for
// rows that have "model_us", and gives all numbers as tables; a cell is empty if its row lacks the
// field. The element with the id "data" holds the rows and the machine as JSON. The text depends on
// nothing but the report.
std::string to_html(const SatReport& report);

}  // namespace facesat::app
