// Capture, detection and drawing each run in a thread of their own, connected by single-place
// mailboxes: the user interface waits for neither a frame nor a device.
#include "app/live/live.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include <fmt/format.h>

#include "app/common/messages.hpp"
#include "app/live/detection/history.hpp"
#include "app/live/frames/capture.hpp"
#include "app/live/gui/screen.hpp"
#include "app/live/gui/toasts.hpp"
#include "app/live/outputs.hpp"
#include "app/live/panels/main_window.hpp"
#include "app/live/saving.hpp"
#include "app/live/settings_file.hpp"
#include "cascades/cascade_store.hpp"
#include "library/media/opencv.hpp"
#include "library/support/errors.hpp"
#include "library/support/interrupt.hpp"

namespace facesat::app {
namespace {

using Clock = std::chrono::steady_clock;

double milliseconds(Clock::duration d) {
  return std::chrono::duration<double, std::milli>(d).count();
}

class Live {
 public:
  Live(const LiveCommand& command, const Remembered& remembered, Outputs& outputs)
      : command_(command),
        screen_("facesat", remembered.window, command.vsync),
        detection_(remembered.settings, [] { Screen::wake(); }),
        capture_([this](CapturedFrame frame) { detection_.put(std::move(frame)); },
                 [&outputs](const std::string& source) { outputs.check_source(source); }),
        saving_(command.record, outputs, detection_, toasts_),
        window_({screen_, detection_, capture_, saving_, toasts_}, remembered, command.camera) {
    opencv();  // loads OpenCV now, so that the first frame's time does not include it
    capture_.open(names_of(command), command.camera);
  }

  // Runs until the window is closed, or until an unattended run has shown its frames or gets no
  // more. Then writes the outputs that were given on the command line.
  void run() {
    const bool is_watched = command_.vsync && command_.frames == 0;
    while (!screen_.is_closed() && !interrupted()) {
      screen_.draw([this] { draw(); }, is_watched);
      const bool is_last = (counts() && ++shown_ == command_.frames) || is_over_;
      if (window_.wants_screenshot()) saving_.save_screenshot(screen_);
      const double draw_ms = milliseconds(Clock::now() - begin_);
      screen_.show();
      if (std::exchange(fresh_, false)) add_sample(draw_ms);
      take_repeats(draw_ms);
      window_.measured(history_);
      if (is_last) break;
      // The loop runs once more, which shows a result that was not taken yet.
      is_over_ = command_.frames > 0 && nothing_more_comes();
    }
    write_outputs();
  }

  Remembered choices() const { return window_.choices(); }

  // The exit status. Throws the error that prevented an output from being written.
  int status() const {
    const bool is_short = is_over_ && shown_ < command_.frames;
    if (is_short && shown_ == 0) throw UsageError(why_over());
    if (is_short)
      say_line(
          fmt::format("facesat: {}, after {} of {} frames", why_over(), shown_, command_.frames));
    if (const std::string remark = detection_.recorder().remark(); !remark.empty())
      say_line(fmt::format("facesat: {}", remark));
    if (saving_.failure()) std::rethrow_exception(saving_.failure());
    if (command_.frames > 0 && failed_frames_ > 0)
      throw DeviceError(fmt::format("detection failed in {} of {} frames: {}", failed_frames_,
                                    all_frames_, why_detection_failed_));
    return is_short ? 1 : 0;
  }

 private:
  static std::vector<std::string> names_of(const LiveCommand& command) {
    const std::vector<std::string> first_camera{""};
    return command.sources.empty() ? first_camera : command.sources;
  }

  void draw() {
    begin_ = Clock::now();
    take_result();
    if (std::vector<std::string> files = screen_.dropped(); !files.empty())
      capture_.open(std::move(files));
    saving_.check_recording();
    window_.draw(history_);
  }

  void write_outputs() {
    const bool is_nothing_processed = is_over_ && shown_ == 0;
    if (!command_.screenshot.empty() && !is_nothing_processed)
      saving_.write_screenshot(command_.screenshot, screen_,
                               [this] { window_.draw_contents(history_); });
    saving_.finish_recording();
    if (!command_.times.empty() && !is_nothing_processed) saving_.write_times(command_.times, all_);
  }

  // Does this frame of the user interface count for --frames? A still picture counts each time it
  // is drawn.
  bool counts() const {
    return fresh_ || (shown_ > 0 && capture_.state().kind == FrameSource::Kind::picture);
  }

  bool nothing_more_comes() const {
    const Capture::State state = capture_.state();
    const bool is_picture = state.kind == FrameSource::Kind::picture;
    const bool ended = is_picture ? shown_ == 0 && state.failed : state.exhausted;
    return !state.refused.empty() || (ended && detection_.idle());
  }

  std::string why_over() const {
    const Capture::State state = capture_.state();
    return state.refused.empty() ? state.message : state.refused;
  }

  void take_result() {
    std::optional<LiveResult> result = detection_.take();
    if (!result) return;
    fresh_ = true;
    ++all_frames_;
    if (!result->message.empty() && !result->comes_again && ++failed_frames_ == 1)
      why_detection_failed_ = result->message;
    window_.show(std::move(*result));
  }

  // One entry of the history: these times, with the numbers of the result that is shown. The
  // drawing time excludes the wait for the screen.
  Sample sample_of(const StepTimes& times, double detect_ms, double draw_ms) const {
    const LiveResult& result = window_.shown();
    Sample sample;
    const auto put_steps = [](const auto& from, LiveSteps& to) {
      std::copy(from.begin(), from.end(), to.begin() + 1);
    };
    put_steps(times.ms, sample.ms);
    put_steps(result.bytes, sample.bytes);
    put_steps(result.floors.ms, sample.floor_ms);
    sample.ms.front() = result.frame.capture_ms;
    sample.ms.back() = draw_ms;
    sample.detect_ms = detect_ms;
    sample.faces = result.faces.size();
    sample.windows = result.windows;
    sample.failed = !result.message.empty();
    sample.shown = Clock::now();
    if (result.frame.kind == FrameSource::Kind::video) sample.position = result.frame.position;
    return sample;
  }

  // Called when a result is shown for the first time. It has a latency only if its frame is new:
  // after a change of settings the last frame is detected again.
  void add_sample(double draw_ms) {
    const LiveResult& result = window_.shown();
    Sample sample = sample_of(result.times, result.detect_ms, draw_ms);
    if (result.is_new) sample.latency_ms = milliseconds(sample.shown - result.frame.captured);
    history_.add(sample, result.subject);
    if (!command_.times.empty()) all_.push_back(sample);
  }

  void take_repeats(double draw_ms) {
    const std::optional<Repeats> repeats = detection_.take_repeats();
    const Subject& subject = window_.shown().subject;
    if (!repeats || repeats->subject != subject) return;
    for (const Repeats::Measurement& one : repeats->measurements)
      history_.add(sample_of(one.times, one.detect_ms, draw_ms), subject);
  }

  const LiveCommand& command_;
  Screen screen_;
  Detection detection_;
  Capture capture_;  // after detection_, which it posts to
  Toasts toasts_;
  Saving saving_;
  MainWindow window_;
  History history_;
  std::vector<Sample> all_;
  Clock::time_point begin_;
  int shown_ = 0, all_frames_ = 0, failed_frames_ = 0;
  std::string why_detection_failed_;  // the reason for the first of the failed_frames_
  bool fresh_ = false;                // a result is about to be shown for the first time
  bool is_over_ = false;              // an unattended run gets no more frames
};

// Failing to save the choices does not make the run a failure.
void remember(const Remembered& choices) {
  try {
    write_settings(settings_file(), choices);
  } catch (const Error& error) {
    say_line(fmt::format("facesat: your choices cannot be remembered: {}", error.what()));
  }
}

}  // namespace

bool has_window() {
  return true;
}

int run_live(const LiveCommand& command) {
  keep_standard_error_to_ourselves();
  catch_interrupts();
  std::vector<std::shared_ptr<const Cascade>> cascades;
  for (const std::string& cascade : command.settings.cascades)
    cascades.push_back(find_cascade(cascade));
  check(command.settings.detect);
  const Backends usable(command.settings.backend, cascades);  // throws unless usable
  const bool remembers = command.frames == 0 && !settings_file().empty();
  Remembered start;
  start.settings = command.settings;
  if (start.settings.cascades.empty()) start.settings.cascades.emplace_back(default_cascade_name);
  if (remembers && !command.ignores_saved_settings) start = read_settings(settings_file(), start);
  command.give(start.settings);
  Outputs outputs({"--screenshot", command.screenshot}, {"--times", command.times},
                  {"--record", command.record}, start.settings.cascades);
  for (const std::string& source : command.sources) outputs.check_source(source);
  outputs.check_contents();
  const int status = [&] {
    Live live(command, start, outputs);
    live.run();
    if (remembers) remember(live.choices());
    return live.status();
  }();
  if (interrupted()) end_as_interrupted();
  return status;
}

}  // namespace facesat::app
