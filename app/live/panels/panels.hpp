// The panels next to the picture.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/live/detection/detection.hpp"
#include "app/live/detection/history.hpp"
#include "app/live/frames/capture.hpp"
#include "app/live/panels/step_table.hpp"
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
  explicit DetectionPanel(std::vector<DeviceInfo> devices = gpu::devices(),
                          std::span<const gpu::SatAlgorithm* const> sats = gpu::sat_algorithms());
  bool draw(LiveSettings& settings, const LiveResult& last);

 private:
  bool draw_machine(BackendOptions& backend) const;
  bool draw_cascades(LiveSettings& settings) const;
  static bool draw_inside(LiveSettings& settings);
  static bool draw_search(DetectOptions& options);

  std::vector<DeviceInfo> devices_;
  std::span<const gpu::SatAlgorithm* const> sats_;
  std::vector<std::string> cascades_;
};

// Selects which intermediate picture of the detector is shown; returns true if the selection
// changed. `opacity`: that of the picture over the frame, in percent, which is not a part of the
// selection.
bool draw_inspection(Inspection& inspection, int level_count, int& opacity);

// Rates, latency, a bar and a chart of the steps, and a table that compares them with a plain copy
// of the same bytes and in which they are switched off and on; of a still picture the median and
// spread of its measurements instead of rates and latency.
class TimesPanel {
 public:
  // `dropped`: frames that were replaced by newer ones. Returns the position of a frame whose
  // column was clicked, if it can be shown again: see Sample::position.
  std::optional<double> draw(const History& history, std::uint64_t dropped, bool is_still);

 private:
  const History& charted(const History& history, bool is_still);
  std::optional<double> draw_columns(const History& charted, const StepRows& rows,
                                     const History& history, bool is_still);

  HiddenSteps hidden_;
  double top_ = 0;                 // of the chart's axis, in ms
  bool is_under_pointer_ = false;  // the chart, when it was drawn last
  std::optional<History> held_;    // what is shown as long as the chart is under the pointer
};

}  // namespace facesat::app
