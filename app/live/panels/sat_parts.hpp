// The parts of the panel of SAT (summed area table) algorithms: what they are, whether they can run
// here or not, how fast they were, and two of them side by side.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/live/detection/comparison.hpp"
#include "app/live/detection/history.hpp"
#include "app/live/detection/live_result.hpp"
#include "kernels/sat/algorithm.hpp"

namespace facesat::app {

struct SatFacts {
  std::string id, title, paper;
  std::string authors;           // and the year
  double reads = 0, writes = 0;  // per element of each table
  std::string runs_as;           // how many launches on the GPU, or how many threads
  // For a table of 1920 x 1080, on the GPU of kernels/sat/measurements.md, from which it is; 0:
  // unknown.
  double documented_us = 0;
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

// Two algorithms, A and B, that take turns on the live frames and are shown side by side.
class SatPair {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds turn{2};

  enum Side : std::size_t { a, b };

  // Medians of the frames that an algorithm has processed.
  struct Times {
    double sat_ms = 0, detect_ms = 0;
    std::size_t frames = 0;
  };

  // Makes an algorithm A or B, and no longer the other one; if it is this one already, unpins it.
  void pin(Side side, std::string id);
  const std::string& id(Side side) const { return ids_[side]; }  // empty: none
  bool is_complete() const { return !ids_[a].empty() && !ids_[b].empty(); }

  // B if A is in use, otherwise A. Empty if A or B is missing.
  std::string next(const std::string& in_use) const;

  // Whether A and B alternate by themselves. Then due() gives the algorithm to change to once the
  // one in use has run for a turn; otherwise it is empty. To be called regularly.
  bool alternates = false;
  std::string due(const std::string& in_use, Clock::time_point now);

  static Times times_of(const History& history);
  // Keeps the times of the algorithm in use. Those of other subjects are forgotten. The first few
  // frames after a change say little, so the times of an earlier turn are kept until there are
  // more.
  void keep(const std::string& in_use, const Times& times, const Subject& any_sat);
  const Times* times(Side side) const;  // null: has not run on this subject

 private:
  std::array<std::string, 2> ids_;
  Subject subject_;
  std::map<std::string, Times> times_;
  std::string running_;
  Clock::time_point since_;  // when it became the one in use
};

// Names and times of A and B, and the controls of their turns. in_use: the algorithm that runs now.
// Returns true if the user wants to switch.
bool draw_pair(SatPair& pair, const std::string& in_use);

}  // namespace facesat::app
