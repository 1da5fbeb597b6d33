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

// One self-contained HTML file without scripts, also well-formed as XML. For each element type of
// the integral image (SAT) there are: a plot of the times, as multiples of the floor's (a kernel
// that only reads the picture and writes the SAT), against the size of the picture; bars of the
// times, the fastest first; a plot of the speed-ups over opencv_style, if that is among the rows;
// for an algorithm that was measured with several values of its parameter, a plot of the times
// against them; a plot of the measured times against those that a cost model predicts, for rows
// that have "model_us"; and HTML tables of all numbers, with a dash where a row lacks one. The
// element with the id "data" holds the rows and the machine as JSON. The page depends on `report`
// alone: it has no date of its own.
std::string to_html(const SatReport& report);

}  // namespace facesat::app
