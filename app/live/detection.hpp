// The thread that detects: always on the newest frame, with the settings of the moment. A change of
// settings looks at the last frame again, so that it shows on a still picture too.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "app/common/backends.hpp"
#include "app/live/comparison.hpp"
#include "app/live/copy_speed.hpp"
#include "app/live/guarded_thread.hpp"
#include "app/live/inspection.hpp"
#include "app/live/mailbox.hpp"
#include "app/live/recorder.hpp"
#include "core/detector.hpp"
#include "library/io/results.hpp"
#include "library/media/frame_source.hpp"

namespace facesat::app {

struct LiveSettings {
  BackendOptions backend;
  std::vector<std::string> cascades;
  DetectOptions detect;
  bool inside = false;    // the other cascades look only inside faces of the first (eyes, smiles)
  Inspection inspection;  // what is shown in the place of the frame

  bool operator==(const LiveSettings&) const = default;
};

struct LiveResult {
  Frame frame;
  std::vector<FoundFace> faces;
  std::optional<Image<Bgr>> view;  // in the place of the frame, if another picture was asked for
  bool view_is_frame = true;       // the boxes fit onto it
  int level_count = 0;             // of the first cascade's pyramid
  std::size_t windows = 0;         // before grouping
  StepTimes times;                 // of all cascades together
  StepTimes floors;                // what a plain copy of the least bytes would take; 0: unknown
  StepBytes bytes{};               // these bytes
  double detect_ms = 0;            // from frame to faces
  std::string backend;             // "CPU", or the device
  std::string sat;                 // on a device
  std::string message;             // what went wrong; then there are no faces
  bool comes_again = false;        // after a failure: the CPU takes over, from this frame on
};

class Detection {
 public:
  // `on_result` is called from the thread when there is something new to take.
  explicit Detection(
      LiveSettings settings, std::function<void()> on_result = [] {});

  void put(Frame frame);
  void set(const LiveSettings& settings);
  LiveSettings settings() const;

  // From the next frame on, frames with their boxes go into this video; empty: no longer.
  void record(const std::string& file, double frames_per_second);
  const Recorder& recorder() const { return recorder_; }

  // Neither detecting nor with a frame to do so; the last result can be taken.
  bool idle() const;

  // The newest result that was not taken yet.
  std::optional<LiveResult> take() { return results_.take(); }
  std::uint64_t dropped() const;  // frames that a newer one has replaced

  // Compares the SAT algorithms on the next frame, or on the last if none comes.
  void compare();
  std::shared_ptr<const Comparison> comparison() const;  // the last; null: none yet

 private:
  void run_once(const std::stop_token& stop);
  void fail(const std::string& reason);
  void use(const LiveSettings& settings);
  bool turn_to_cpu();
  LiveResult detect(Frame frame);
  void find_everywhere(View<const Bgr> frame, LiveResult& result);
  void find_inside(View<const Bgr> frame, LiveResult& result);
  void add_numbers(const Detector& detector, LiveResult& result) const;
  Comparison compare_on(View<const Bgr> frame) const;
  void show_inside(LiveResult& result);

  const std::function<void()> on_result_;

  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  LiveSettings settings_;
  bool settings_changed_ = true, wants_comparison_ = false, busy_ = false;
  std::shared_ptr<const Comparison> comparison_;
  std::optional<Frame> newest_;
  std::uint64_t dropped_ = 0;
  Recorder recorder_;
  Mailbox<LiveResult> results_;

  // Of the thread alone.
  std::vector<Detector> detectors_;
  std::optional<LiveSettings> built_;  // what detectors_ are made from
  CopySpeed speed_;
  bool on_device_ = false, fails_over_ = false;
  std::string backend_, sat_, failure_;
  std::optional<Frame> last_;

  GuardedThread thread_;  // last: it uses all of the above
};

}  // namespace facesat::app
