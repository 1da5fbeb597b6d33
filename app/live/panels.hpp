// What lies beside the picture: the source, the choices for detection, the times.
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

// What went wrong, in the colour of warnings.
void draw_warning(const std::string& message);

// Play, pause, seek, speed, loop; another source by name or camera number.
class SourcePanel {
 public:
  explicit SourcePanel(const CameraMode& mode = {}) : mode_(mode) {}
  void draw(Capture& capture);

 private:
  void draw_cameras(Capture& capture, const Capture::State& state);

  std::string name_;                 // being typed
  CameraMode mode_;                  // for cameras
  std::vector<CameraInfo> cameras_;  // as the list shows them
};

// All choices that detection has; draw() is true when one of them changed.
class DetectionPanel {
 public:
  explicit DetectionPanel(std::vector<gpu::DeviceInfo> devices = gpu::devices(),
                          std::span<const gpu::SatAlgorithm* const> sats = gpu::sat_algorithms());
  bool draw(LiveSettings& settings, const LiveResult& last);

 private:
  bool draw_machine(BackendOptions& backend) const;
  bool draw_cascades(std::vector<std::string>& chosen) const;
  static bool draw_search(DetectOptions& options);

  std::vector<gpu::DeviceInfo> devices_;
  std::span<const gpu::SatAlgorithm* const> sats_;
  std::vector<std::string> cascades_;
};

// Which of the detector's pictures is shown; true when that changed.
bool draw_inspection(Inspection& inspection, int level_count);

// Rates, latency, a bar and a history of the steps, a table of them beside what a plain copy of the
// same bytes would take.
void draw_times(const History& history, std::uint64_t dropped, const LiveResult& last);

// Starts the comparison of all SAT algorithms, and ranks them; true when one was chosen.
bool draw_comparison(Detection& detection, LiveSettings& settings);

}  // namespace facesat::app
