// The thread that detects: always in the newest frame, with the current settings. When the settings
// change, it processes the last frame again, so that the effect shows on a still picture, too.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "app/live/detection/comparison.hpp"
#include "app/live/detection/face_search.hpp"
#include "app/live/detection/filter_view.hpp"
#include "app/live/detection/live_result.hpp"
#include "app/live/detection/recorder.hpp"
#include "app/live/frames/capture.hpp"
#include "app/live/threads.hpp"

namespace facesat::app {

class Detection {
 public:
  // `on_result` is called by the thread when take() has a new result.
  explicit Detection(
      LiveSettings settings, std::function<void()> on_result = [] {});

  // For a run of that many frames, before the first put(): no more frames are processed, and each
  // only after the result before was taken. Each is recorded once, even if frames of the source
  // were skipped in between.
  void limit(int frames);

  void put(CapturedFrame frame);
  void set(const LiveSettings& settings);
  // Reads the files of cascades anew, which have changed.
  void reload_cascades();
  LiveSettings settings() const;

  // From the next frame on, frames with their boxes are written to this video; "": no more.
  // Frames per second: 0 for that of the source.
  void record(const std::string& file, double frames_per_second = 0);
  const Recorder& recorder() const { return recorder_; }

  // Is no frame being processed or waiting? The last result can then be taken.
  bool idle() const;

  // The newest result, if it has not been taken yet.
  std::optional<LiveResult> take();
  // A still picture, and a paused frame after a change of settings, is measured this many times, if
  // that takes no longer than a second. For the measurements after the first, which take() gives.
  static constexpr int still_measurements = 30;
  std::optional<Repeats> take_repeats() { return repeats_.take(); }
  std::uint64_t dropped() const;  // frames of the newest source that were replaced by newer ones

  // From now on, results say where this object is; nullopt: none.
  void follow(std::optional<MarkedObject> object);

  // Compares the SAT algorithms on the next frame, or on the last one if none comes. New frames and
  // settings wait for one run of an algorithm at most. Ends early when another source or machine is
  // chosen.
  void compare(SourceNames pictures = {});
  // The last one, as far as it has come; null: none yet. on_result() is called when it grows.
  std::shared_ptr<const Comparison> comparison() const;

 private:
  void run_once(const std::stop_token& stop);
  void detect_last(const LiveSettings& settings, bool is_new, const std::stop_token& stop);
  LiveResult detect(const LiveSettings& settings);
  void repeat_on_cpu();
  void measure_again(const Subject& subject, const std::stop_token& stop);
  void record_frame(const LiveResult& result);
  void show_comparison();
  void post(LiveResult result);
  void fail(const std::string& reason);
  bool has_work() const;
  bool may_begin() const;
  bool has_frame() const;

  const std::function<void()> on_result_;

  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  LiveSettings settings_;
  bool settings_changed_ = true, cascades_changed_ = false, wants_comparison_ = false,
       busy_ = false;
  SourceNames compared_;
  bool repeats_frame_ = false;  // the CPU has yet to repeat the frame in which the device failed
  std::shared_ptr<const Comparison> comparison_;
  std::optional<std::optional<MarkedObject>> followed_;  // from the next frame on
  std::optional<CapturedFrame> newest_;
  std::uint64_t newest_source_ = 0;  // of the frame that was put last
  std::uint64_t dropped_ = 0;        // frames of that source
  std::optional<int> frames_left_;   // to be processed; nullopt: no limit
  bool is_taken_ = true;             // the last result
  Recorder recorder_;
  Mailbox<LiveResult> results_;
  Mailbox<Repeats> repeats_;

  // Used only by the thread.
  FaceSearch search_;
  FrameFilter filter_;
  Tracker tracker_;
  LiveComparison comparing_;
  std::optional<CapturedFrame> last_;

  GuardedThread thread_;  // last: it uses all of the above
};

// A run that ends by itself after a number of frames (--frames).
class FrameLimit {
 public:
  // `frames`: 0 for a run without a limit. The others are borrowed.
  FrameLimit(int frames, Capture& capture, Detection& detection);

  // To be called whenever a result was drawn; `is_fresh`: for the first time. New frames count, and
  // a still picture each time that it is drawn.
  void count(const LiveResult& drawn, bool is_fresh);
  bool is_reached() const { return frames_ > 0 && shown_ >= frames_; }

  // Do no more frames come, except for a result that can be taken? Goes on to the next source of a
  // list as long as none could be read.
  bool is_out_of_reach();

  // The exit status, after the run: 2 if no source could be read, 1 if frames or some sources are
  // missing, else 0. Says on standard error what is missing, and why.
  int status() const;

 private:
  std::string why_over() const;

  const int frames_;
  Capture& capture_;
  const Detection& detection_;
  int shown_ = 0;
  bool is_out_of_reach_ = false;
  std::size_t next_ = 0;  // the source of a list to go on to, if none before it can be read
};

}  // namespace facesat::app
