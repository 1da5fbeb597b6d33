// The rows of the panel of SAT (summed area table) algorithms: which there are, and their bars.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/live/detection/comparison.hpp"
#include "app/live/detection/sat_facts.hpp"

namespace facesat::app {

struct SatRow {
  SatFacts facts;
  std::optional<SatRank> rank;  // nullopt: not measured yet
};

// The measured algorithms as the comparison ranks them, then the others in their own order.
std::vector<SatRow> rows_of(const std::vector<SatFacts>& facts, const Comparison& comparison);

// The time in milliseconds at the right end of the bars. The slowest algorithm can take a hundred
// times as long as most; then its bar does not fit, so that the others can be told apart.
double chart_end(const Comparison& comparison);

std::string time_text(double ms);                       // with its unit
std::string factor_text(double ms, double of_what_ms);  // "1.4 x"; empty if that is unknown

// What was measured, in sentences.
std::string measured_text(const SatRank& rank, const Comparison& comparison);

// Draws a bar with its numbers, over the whole width that is left.
void draw_sat_bar(const SatRank& rank, const Comparison& comparison, bool in_use);

}  // namespace facesat::app
