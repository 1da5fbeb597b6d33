// The panels next to the picture.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "app/live/capture.hpp"
#include "app/live/detection.hpp"
#include "app/live/history.hpp"
#include "kernels/device/gpu_info.hpp"
#include "kernels/sat/algorithm.hpp"
#include "library/media/frame_source.hpp"

namespace facesat::app {

// What is open, problems with it, and the mode of a camera.
class SourcePanel {
 public:
  explicit SourcePanel(const CameraMode& mode = {}) : mode_(mode) {}
  // Returns true if the user wants to open something else.
  bool draw(Capture& capture, const Capture::State& state);
  const CameraMode& mode() const { return mode_; }  // for cameras

 private:
  void draw_mode(Capture& capture, const Capture::State& state);

  CameraMode mode_;
};

// All settings of detection; draw() returns true if one of them changed.
class DetectionPanel {
 public:
  explicit DetectionPanel(std::vector<gpu::DeviceInfo> devices = gpu::devices(),
                          std::span<const gpu::SatAlgorithm* const> sats = gpu::sat_algorithms());
  bool draw(LiveSettings& settings, const LiveResult& last);

 private:
  bool draw_machine(BackendOptions& backend) const;
  bool draw_cascades(LiveSettings& settings) const;
  static bool draw_inside(LiveSettings& settings);
  static bool draw_search(DetectOptions& options);

  std::vector<gpu::DeviceInfo> devices_;
  std::span<const gpu::SatAlgorithm* const> sats_;
  std::vector<std::string> cascades_;
};

// Selects which intermediate picture of the detector is shown; returns true if the selection
// changed.
bool draw_inspection(Inspection& inspection, int level_count);

// Rates, latency, a bar and a history of the steps, and a table that compares them with a plain
// copy of the same bytes; of a still picture the median and spread of its measurements instead of
// rates and latency. `dropped`: frames that were replaced by newer ones.
void draw_times(const History& history, std::uint64_t dropped, bool is_still);

// Starts the comparison of all SAT algorithms, and ranks them; returns true if the user chose one.
bool draw_comparison(Detection& detection, LiveSettings& settings);

}  // namespace facesat::app
