// The thread that detects: always in the newest frame, with the current settings. When the settings
// change, it processes the last frame again, so that the effect shows on a still picture, too.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "app/live/detection/comparison.hpp"
#include "app/live/detection/copy_speed.hpp"
#include "app/live/detection/feature_view.hpp"
#include "app/live/detection/filter_view.hpp"
#include "app/live/detection/inspection.hpp"
#include "app/live/detection/recorder.hpp"
#include "app/live/frames/captured_frame.hpp"
#include "app/live/guarded_thread.hpp"
#include "app/live/mailbox.hpp"
#include "core/frame_detector.hpp"
#include "library/detect/backends.hpp"
#include "library/io/results.hpp"

namespace facesat::app {

struct LiveSettings {
  BackendOptions backend;
  std::vector<std::string> cascades;
  DetectOptions detect;
  std::string
      inside_of;  // the others search only inside the faces of this cascade; empty: everywhere
  // The names of cascades by the number of their colour. A cascade keeps its colour as long as it
  // is chosen, whichever others are; only then is its number free for another one.
  std::vector<std::string> colours;
  Inspection inspection;  // what is shown instead of the frame
  FilterChoice filter;    // if that is a filtered image

  bool operator==(const LiveSettings&) const = default;

  bool has(const std::string& cascade) const;
  void choose(const std::string& cascade);    // adds it, unless it is chosen already
  void unchoose(const std::string& cascade);  // also as the one that others search inside of
  // For a cascade that is chosen.
  std::size_t colour_of(const std::string& cascade) const;
  // The index of the chosen cascade that has this colour.
  std::size_t cascade_of_colour(std::size_t colour) const;

 private:
  void give_colour(const std::string& cascade);  // unless it has one
};

// What is measured: times of one subject may be compared and averaged.
struct Subject {
  std::uint64_t source = 0, settings = 0;  // counted as they change
  Size size;                               // of the frame
  std::uint64_t filter = 0;                // counts changes of the filter

  bool operator==(const Subject&) const = default;
};

struct LiveResult {
  CapturedFrame frame;
  Subject subject;
  Subject any_sat;          // `subject` without regard to the SAT algorithm and the filter
  bool is_new = true;       // false: settings changed, and the frame was detected again
  LiveSettings settings;    // with which the frame was detected
  std::vector<Face> faces;  // in the order of results; cascade: its colour's number
  std::optional<InspectedPicture> view;  // shown instead of the frame, if selected
  bool view_is_frame = true;             // the boxes can be drawn onto `view`
  std::optional<FilterResult> filter;    // if `view` is a filtered image
  int level_count = 0;                   // of the first cascade's pyramid
  std::optional<LevelTables> tables;     // of the selected level, if it is to be explained
  std::size_t windows = 0;               // before grouping
  StepTimes times;                       // of all cascades together
  StepTimes floors;                      // times to copy `bytes`; 0: unknown
  StepBytes bytes{};                     // see least_bytes()
  double detect_ms = 0;                  // from frame to faces
  std::string backend;                   // "CPU", or the name of the device
  std::string sat;                       // the SAT algorithm on a device; empty on the CPU
  std::string message;                   // what went wrong, in which case there are no faces
  bool comes_again = false;  // after a failure: the CPU repeats this frame and takes over
};

// Further measurements of the result posted last, which is a still picture or a paused frame.
struct Repeats {
  struct Measurement {
    StepTimes times;
    double detect_ms = 0;
    std::optional<FilterResult> filter;
  };
  Subject subject;
  std::vector<Measurement> measurements;
};

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

  // Compares the SAT algorithms on the next frame, or on the last one if none comes. New frames and
  // settings wait for one algorithm at most. Ends early when another source or machine is chosen.
  void compare();
  // The last one, as far as it has come; null: none yet. on_result() is called when it grows.
  std::shared_ptr<const Comparison> comparison() const;

 private:
  void run_once(const std::stop_token& stop);
  void detect_last(bool is_new, const std::stop_token& stop);
  void record_frame(const LiveResult& result);
  void fail(const std::string& reason);
  void use(const LiveSettings& settings);
  bool turn_to_cpu();
  BackendOptions usable_backend(const LiveSettings& settings) const;
  LiveResult detect(CapturedFrame frame);
  void repeat(const Subject& subject, const std::stop_token& stop);
  bool has_work() const;
  bool may_begin() const;
  bool has_frame() const;
  void find(View<const Bgr> frame, LiveResult& result);
  void find_everywhere(View<const Bgr> frame, LiveResult& result);
  void find_inside(View<const Bgr> frame, std::size_t outer, LiveResult& result);
  std::size_t colour(std::size_t cascade) const;
  void add_numbers(const FrameDetector& detector, LiveResult& result) const;
  void begin_comparison();
  void continue_comparison();
  void show(const Comparison& comparison);
  void show_inside(View<const Bgr> frame, LiveResult& result);
  void show_filtered(View<const Bgr> frame, LiveResult& result);

  const std::function<void()> on_result_;

  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  LiveSettings settings_;
  bool settings_changed_ = true, wants_comparison_ = false, busy_ = false;
  std::shared_ptr<const Comparison> comparison_;
  std::optional<CapturedFrame> newest_;
  std::uint64_t newest_source_ = 0;  // of the frame that was put last
  std::uint64_t dropped_ = 0;        // frames of that source
  std::optional<int> frames_left_;   // to be processed; nullopt: no limit
  bool is_taken_ = true;             // the last result
  Recorder recorder_;
  Mailbox<LiveResult> results_;
  Mailbox<Repeats> repeats_;

  // Used only by the thread.
  std::vector<FrameDetector> detectors_;
  std::shared_ptr<const Cascade> first_cascade_;  // of the first detector
  std::optional<LiveSettings> built_;             // what detectors_ are made from
  BackendOptions built_backend_;                  // the same, after a failure of the device
  CopySpeed speed_;
  std::optional<FilterView> filter_view_;  // where faces are detected; made when needed
  bool on_device_ = false;
  int device_ = 0;              // if on_device_
  bool device_failed_ = false;  // the CPU has taken over, until another backend is chosen
  bool repeats_frame_ = false;  // the CPU has yet to repeat the frame in which the device failed
  std::string backend_, sat_, failure_;
  std::optional<CapturedFrame> last_;
  std::uint64_t settings_count_ = 0;  // changes of what detection depends on
  std::uint64_t any_sat_count_ = 0;   // the same, but not changes of the SAT algorithm
  std::uint64_t filter_count_ = 0;    // changes of the filter, also to none
  // What a comparison that is not over belongs to.
  struct Compared {
    std::uint64_t source = 0;
    BackendOptions machine;
    bool operator==(const Compared&) const = default;
  };
  Compared compared() const;
  Compared compared_;
  std::optional<ComparisonRun> comparing_;

  GuardedThread thread_;  // last: it uses all of the above
};

}  // namespace facesat::app
