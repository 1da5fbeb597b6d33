// The HTML page that shows the results of `facesat bench filter`.
#pragma once

#include <span>
#include <string>

#include <nlohmann/json.hpp>

#include "kernels/filter/algorithm.hpp"

namespace facesat::app {

struct FilterReport {
  nlohmann::ordered_json rows;                              // as in `facesat bench filter --json`
  nlohmann::ordered_json machine;                           // from machine_json()
  std::string command;                                      // the command line; empty: unknown
  std::span<const gpu::FilterAlgorithm* const> algorithms;  // to look up titles and sources
};

// A page like that of `facesat bench sat` (sat_report.hpp). For each filter and size: from which
// radius on one kind of algorithm is faster than another, a plot of the times against the radius
// (or bars, if there is only one radius), tables of the medians and of the reads per pixel over the
// radii, and all figures. Sentences are made from rows that were measured and are not wrong; those
// that lack rows are left out.
std::string to_html(const FilterReport& report);

}  // namespace facesat::app
