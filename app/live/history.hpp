// The times of the most recent frames, for plots and tables.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "app/live/detection.hpp"

namespace facesat::app {

// The steps on which a frame's time is spent, from the camera to the screen: capture, the steps of
// detection, and drawing.
constexpr std::size_t live_step_count = step_names.size() + 2;
std::string_view live_step_name(std::size_t step);

struct Sample {
  std::array<double, live_step_count> ms{};
  double detect_ms = 0;   // from frame to faces
  double latency_ms = 0;  // from capture to the screen
  std::size_t faces = 0, windows = 0;
  std::chrono::steady_clock::time_point shown;
};

class History {
 public:
  static constexpr std::size_t most = 300;

  void add(const Sample& sample);
  const std::deque<Sample>& samples() const { return samples_; }

  // Results per second, over roughly the last second.
  double frames_per_second() const;
  // Quantiles over all samples; 0 if there are none.
  double latency_quantile(double q) const;
  double detect_quantile(double q) const;
  double step_median(std::size_t step) const;

 private:
  template <class Of>
  double quantile(double q, Of of) const;

  std::deque<Sample> samples_;
};

// All samples as CSV: a header, then one line per frame.
std::string times_csv(const std::vector<Sample>& samples);

// Is this text that times_csv() may have written?
bool is_times_csv(const std::string& text);

}  // namespace facesat::app
