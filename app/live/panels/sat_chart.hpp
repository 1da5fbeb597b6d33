// What the window says about SAT (summed area table) algorithms: what they are, whether they can
// run here or not, and how fast they were.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/live/detection/comparison.hpp"
#include "kernels/sat/algorithm.hpp"

namespace facesat::app {

struct SatFacts {
  std::string id, title, paper;
  std::string authors;           // and the year
  double reads = 0, writes = 0;  // per element of each table
  std::string runs_as;           // how many launches on the GPU, or how many threads
};

std::vector<SatFacts> facts_of(std::span<const gpu::SatAlgorithm* const> sats);

// The CPU's own algorithms: those of lab/problems/on_cpu.hpp, and what the CPU backend uses.
std::vector<SatFacts> cpu_sat_facts();

std::string traffic_text(const SatFacts& facts);  // "2 reads and 1 write per element"

// Everything above as a few lines of text.
std::string explanation_of(const SatFacts& facts);

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
