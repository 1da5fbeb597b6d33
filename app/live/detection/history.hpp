// The times of the most recent frames, for plots and tables.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/live/detection/live_result.hpp"

namespace facesat::app {

// The steps on which a frame's time is spent, from the camera to the screen: capture, decoding,
// the steps of detection, and drawing. The steps of a filter are numbered from live_step_count on,
// and happen before drawing.
constexpr std::size_t steps_before_detection = 2;
constexpr std::size_t live_step_count = steps_before_detection + step_names.size() + 1;
constexpr std::size_t live_step(Step step) {
  return steps_before_detection + static_cast<std::size_t>(step);
}
std::string_view live_step_name(std::size_t step);
using LiveSteps = std::array<double, live_step_count>;

// One measurement. Times, bytes and floors belong to the same frame and settings.
struct Sample {
  LiveSteps ms{};
  LiveSteps bytes{};                // the least that a step reads and writes; 0: not counted
  LiveSteps floor_ms{};             // the time of a plain copy of these bytes; 0: unknown
  std::vector<KernelTime> kernels;  // of the steps on a device, if they were measured
  std::vector<FilterTime> filter;   // the steps of the filter whose result was shown
  // Of its algorithm, and of the one that it was compared with, without transfers.
  double filter_compute_ms = 0, compared_compute_ms = 0;
  double detect_ms = 0;              // from frame to faces
  std::optional<double> latency_ms;  // from capture to the screen, of a frame shown at once
  std::size_t faces = 0, windows = 0;
  bool failed = false;             // detection failed: there are no times
  std::optional<double> position;  // in a video: Capture::seek() shows this frame again
  std::chrono::steady_clock::time_point shown;

  double step_ms(std::size_t step) const;
  double filter_ms() const;  // all steps of the filter
};

// The samples of one subject: the same source, settings and frame size. A still picture is a
// subject of its own.
class History {
 public:
  static constexpr std::size_t most = 300;

  // Forgets the samples of other subjects. Failed samples are not kept.
  void add(const Sample& sample, const Subject& subject);
  const std::deque<Sample>& samples() const { return samples_; }
  const Subject& subject() const { return subject_; }

  // Only these samples, by their indices.
  History part(std::size_t first, std::size_t last) const;

  // Results per second, over roughly the last second.
  double frames_per_second() const;

  bool has_latencies() const;

  // Quantiles over all samples that have the value; 0 if there are none.
  double latency_quantile(double q) const;
  double detect_quantile(double q) const;

  // Medians over the samples. 0: unknown.
  struct StepSummary {
    double ms = 0;
    double bytes_per_s = 0;
    double floors = 0;  // time / floor: 1 is as fast as a plain copy
  };
  StepSummary step(std::size_t step) const;
  // The kernels of a step, in the order in which each is first launched; empty if they were not
  // measured for the newest sample.
  struct KernelSummary {
    std::string name;
    int launches = 0;  // per frame
    double ms = 0;     // of all of them: the median over the samples with the same launches
  };
  std::vector<KernelSummary> kernels(std::size_t step) const;
  double filter_compute_ms() const;
  double compared_compute_ms() const;

  // All steps that take time, in the order in which they happen: the CPU, for instance, has no
  // transfers. Before the first sample, all steps without filters.
  std::vector<std::size_t> steps() const;
  std::string step_name(std::size_t step) const;

 private:
  template <class Of>
  double quantile(double q, Of of) const;

  Subject subject_;
  std::deque<Sample> samples_;
};

// All samples as CSV: a header, then one line per frame; a failed frame has no times. There is a
// column for filters if there was a filter.
std::string times_csv(const std::vector<Sample>& samples);

// Is this text that times_csv() may have written?
bool is_times_csv(const std::string& text);

}  // namespace facesat::app
