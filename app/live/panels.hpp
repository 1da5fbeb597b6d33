// The panels next to the picture: source, detection settings, times.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "app/live/capture.hpp"
#include "app/live/detection.hpp"
#include "app/live/history.hpp"
#include "kernels/device/gpu_info.hpp"
#include "kernels/sat/algorithm.hpp"
#include "library/media/camera.hpp"

namespace facesat::app {

// Play, pause, seek, speed, loop; opens another source by name or camera number.
class SourcePanel {
 public:
  explicit SourcePanel(const CameraMode& mode = {}) : mode_(mode) {}
  void draw(Capture& capture);

 private:
  void draw_cameras(Capture& capture, const Capture::State& state);

  std::string name_;                 // being typed
  CameraMode mode_;                  // for cameras
  std::vector<CameraInfo> cameras_;  // those in the list
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
// changed. `opacity`: that of the picture over the frame, in percent, which is not a part of the
// selection.
bool draw_inspection(Inspection& inspection, int level_count, int& opacity);

// Rates, latency, a bar and a history of the steps, and a table that compares them with a plain
// copy of the same bytes; of a still picture the median and spread of its measurements instead of
// rates and latency. `dropped`: frames that were replaced by newer ones.
void draw_times(const History& history, std::uint64_t dropped, bool is_still);

// Starts the comparison of all SAT algorithms, and ranks them; returns true if the user chose one.
bool draw_comparison(Detection& detection, LiveSettings& settings);

}  // namespace facesat::app
