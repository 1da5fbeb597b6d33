// The panel of SAT (summed area table) algorithms: what they are, how fast they are on the current
// frame, and two of them side by side.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "app/live/detection/detection.hpp"
#include "app/live/detection/history.hpp"
#include "app/live/detection/sat_facts.hpp"
#include "app/live/panels/sat_chart.hpp"
#include "app/live/panels/sat_pair.hpp"
#include "kernels/sat/algorithm.hpp"

namespace facesat::app {

class ComparisonPanel {
 public:
  explicit ComparisonPanel(std::span<const gpu::SatAlgorithm* const> sats = gpu::sat_algorithms())
      : gpu_sats_(facts_of(sats)), cpu_sats_(cpu_sat_facts()) {}

  // What the user asks for.
  struct Wish {
    bool comparison = false;  // to compare the algorithms
    bool settings = false;    // settings that have changed
  };
  // comparison: the last one, may be null. last: the result that is shown.
  Wish draw(const Comparison* comparison, LiveSettings& settings, const LiveResult& last);

  // The other two are called even while the panel is closed. Both return true if they have changed
  // the algorithm.
  bool switch_algorithm(LiveSettings& settings, const LiveResult& last) const;  // A to B, B to A
  bool alternate(LiveSettings& settings, const LiveResult& last, SatPair::Clock::time_point now);

  // Keeps the times of the algorithm in use. `history` belongs to the subject of `last`.
  void keep(const History& history, const LiveResult& last);

  const SatPair& pair() const { return pair_; }

 private:
  bool draw_rows(const std::vector<SatFacts>& sats, const Comparison& comparison,
                 const std::string& in_use, LiveSettings* settings);
  bool draw_row(const SatRow& row, const Comparison& comparison, bool in_use, bool can_be_used);
  void draw_pins(const std::string& id);

  std::vector<SatFacts> gpu_sats_, cpu_sats_;
  SatPair pair_;
};

}  // namespace facesat::app
