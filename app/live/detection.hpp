// The thread that detects: always on the newest frame, with the settings of the moment. A change of
// settings looks at the last frame again, so that it shows on a still picture too.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "app/backends.hpp"
#include "app/live/mailbox.hpp"
#include "app/live/source.hpp"
#include "core/detector.hpp"

namespace facesat::app {

struct LiveSettings {
  BackendOptions backend;
  std::vector<std::string> cascades;
  DetectOptions detect;
};

struct LiveFace {
  Face face;
  std::size_t cascade = 0;  // index into LiveSettings::cascades
};

struct LiveResult {
  LiveFrame frame;
  std::vector<LiveFace> faces;
  std::size_t windows = 0;  // before grouping
  StepTimes times;          // of all cascades together
  double detect_ms = 0;     // from frame to faces
  std::string backend;      // "CPU", or the device
  std::string sat;          // on a device
  std::string message;      // what went wrong; then there are no faces
};

class Detection {
 public:
  explicit Detection(LiveSettings settings);

  void put(LiveFrame frame);
  void set(const LiveSettings& settings);
  LiveSettings settings() const;

  // The newest result that was not taken yet.
  std::optional<LiveResult> take() { return results_.take(); }
  std::uint64_t dropped() const;  // frames that a newer one has replaced

 private:
  void run(const std::stop_token& stop);
  void rebuild(const LiveSettings& settings);
  LiveResult detect(LiveFrame frame);

  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  LiveSettings settings_;
  bool settings_changed_ = true;
  std::optional<LiveFrame> newest_;
  std::uint64_t dropped_ = 0;
  Mailbox<LiveResult> results_;

  // Of the thread alone.
  std::vector<Detector> detectors_;
  std::string backend_, sat_, failure_;
  std::optional<LiveFrame> last_;

  std::jthread thread_;  // last: it uses all of the above
};

}  // namespace facesat::app
