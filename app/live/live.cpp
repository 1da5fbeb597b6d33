// Capture, detection and drawing each run in a thread of their own, connected by single-place
// mailboxes: the user interface waits for neither a frame nor a device.
#include "app/live/live.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>

#include "app/live/detection/detection.hpp"
#include "app/live/detection/history.hpp"
#include "app/live/frames/capture.hpp"
#include "app/live/gui/screen.hpp"
#include "app/live/gui/widgets.hpp"
#include "app/live/outputs.hpp"
#include "app/live/panels/main_window.hpp"
#include "app/live/saving.hpp"
#include "app/live/settings_file.hpp"
#include "cascades/cascade_store.hpp"
#include "media/opencv.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/interrupt.hpp"
#include "support/messages.hpp"

namespace facesat::app {
namespace {

using Clock = std::chrono::steady_clock;

double milliseconds(Clock::duration d) {
  return std::chrono::duration<double, std::milli>(d).count();
}

class Live {
 public:
  Live(const LiveCommand& command, const Remembered& remembered, Panels panels, Outputs& outputs)
      : command_(command),
        screen_("facesat", remembered.window, command.vsync),
        detection_(remembered.settings, [] { Screen::wake(); }),
        capture_([this](CapturedFrame frame) { detection_.put(std::move(frame)); },
                 [&outputs](const std::string& source) { outputs.check_source(source); }),
        limit_(command.frames, capture_, detection_),
        saving_(command.record, outputs, detection_, toasts_),
        window_({screen_, detection_, capture_, saving_, toasts_}, remembered, std::move(panels),
                command.camera) {
    opencv();  // loads OpenCV now, so that the first frame's time does not include it
    capture_.open(names_of(command), command.camera);
  }

  // Runs until the window is closed, or until an unattended run has shown its frames or gets no
  // more. Then writes the outputs that were given on the command line.
  void run() {
    const DisplayLoss loss([this] { finish_without_display(); });
    const bool is_watched = command_.vsync && command_.frames == 0;
    bool is_over = false;
    while (!screen_.is_closed() && !interrupted()) {
      screen_.draw([this] { draw(); }, is_watched);
      limit_.count(window_.shown(), fresh_);
      const bool is_last = limit_.is_reached() || is_over;
      if (window_.wants_screenshot()) saving_.save_screenshot(screen_);
      const double draw_ms = milliseconds(Clock::now() - begin_);
      screen_.show();
      if (std::exchange(fresh_, false)) {
        add_sample(draw_ms);
        Screen::wake();  // to show it
      }
      take_repeats(draw_ms);
      window_.measured(history_);
      if (is_last) break;
      is_over = limit_.is_out_of_reach();  // after one more turn, which takes the last result
    }
    write_outputs();
  }

  // Failing to save the choices does not make the run a failure.
  void remember() const {
    try {
      write_settings(settings_file(), window_.choices(), window_.panels());
    } catch (const Error& error) {
      say_line(fmt::format("facesat: your choices cannot be remembered: {}", error.what()));
    }
  }
  // Is a source being opened? The destructor waits for it, half a minute if it does not answer.
  bool is_opening() const { return capture_.state().is_opening; }

  // The exit status. Says what went wrong, except for the last failure, which it throws.
  int status() const {
    if (const std::string remark = detection_.recorder().remark(); !remark.empty())
      say_line(fmt::format("facesat: {}", remark));
    const int missing = limit_.status(), unwritten = say_what_was_not_written();
    const std::vector<std::string> failures = this->failures();
    if (failures.empty()) return std::max(missing, unwritten);
    for (std::size_t i = 0; i + 1 < failures.size(); ++i)
      say_line(fmt::format("facesat: {}", failures[i]));
    throw OutputError(failures.back());
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
    // What came last is shown, and counted, once.
    if (!fresh_ && window_.drop_what_is_gone()) history_ = {};
    window_.draw(history_);
  }

  // If no frame was shown, those of earlier runs stay.
  void write_outputs() {
    if (!command_.screenshot.empty() && frames_ > 0)
      saving_.write_screenshot(command_.screenshot, screen_,
                               [this] { window_.draw_contents(history_); });
    finish_video_and_times();
  }

  void finish_video_and_times() {
    saving_.finish_recording();
    if (!command_.times.empty() && frames_ > 0) saving_.write_times(command_.times, all_);
  }

  // Returns the exit status of a run without the outputs that it was to write; else 0.
  int say_what_was_not_written() const {
    if (frames_ > 0) return 0;
    std::vector<std::string> files;
    for (const std::string& file : {command_.screenshot, command_.times})
      if (!file.empty()) files.push_back(file);
    // It was empty at the start, and may have a frame that came too late to be shown.
    if (!command_.record.empty() && !has_contents(command_.record))
      files.push_back(command_.record);
    if (files.empty()) return 0;
    say_line(fmt::format("facesat: no frame was shown, so nothing was written to {}",
                         fmt::join(files, ", ")));
    return 2;
  }

  // The window is gone, and with it the screenshot.
  void finish_without_display() {
    say_line("facesat: the connection to the display was lost");
    finish_video_and_times();
    for (const std::string& failure : failures()) say_line(fmt::format("facesat: {}", failure));
    say_what_was_not_written();
    if (!command_.screenshot.empty() && frames_ > 0)
      say_line(fmt::format("facesat: {}: no screenshot was taken", command_.screenshot));
  }

  // The outputs that could not be written, and failures of detection in an unattended run.
  std::vector<std::string> failures() const {
    std::vector<std::string> failures = saving_.failures();
    if (command_.frames > 0 && failed_frames_ > 0)
      failures.push_back(fmt::format("detection failed in {} of {} frames: {}", failed_frames_,
                                     frames_, why_detection_failed_));
    return failures;
  }

  void take_result() {
    std::optional<LiveResult> result = detection_.take();
    if (!result) return;
    fresh_ = true;
    window_.show(std::move(*result));
  }

  // One entry of the history: these times, with the numbers of the result that is shown. The
  // drawing time excludes the wait for the screen.
  Sample sample_of(const Repeats::Measurement& measured, double draw_ms) const {
    const LiveResult& result = window_.shown();
    Sample sample;
    const auto put_steps = [](const auto& from, LiveSteps& to) {
      std::copy(from.begin(), from.end(), to.begin() + steps_before_detection);
    };
    put_steps(measured.times.ms, sample.ms);
    put_steps(result.bytes, sample.bytes);
    put_steps(result.floors.ms, sample.floor_ms);
    sample.ms[0] = result.frame.capture_ms;
    sample.ms[1] = result.frame.decode_ms;
    sample.ms.back() = draw_ms;
    sample.kernels = measured.kernels;
    sample.detect_ms = measured.detect_ms;
    if (const auto& filter = measured.filter) {
      sample.filter = filter->shown.times;
      sample.filter_compute_ms = filter->shown.compute_ms();
      if (filter->compared) sample.compared_compute_ms = filter->compared->compute_ms();
    }
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
    Sample sample =
        sample_of({result.times, result.kernels, result.detect_ms, result.filter}, draw_ms);
    if (result.is_new) sample.latency_ms = milliseconds(sample.shown - result.frame.captured);
    history_.add(sample, result.subject);
    if (result.comes_again) return;
    ++frames_;
    if (sample.failed && ++failed_frames_ == 1) why_detection_failed_ = result.message;
    sample.kernels.clear();  // a table has no columns for them
    if (!command_.times.empty()) all_.push_back(sample);
  }

  // They may be there before the result that they repeat is shown.
  void take_repeats(double draw_ms) {
    if (std::optional<Repeats> repeats = detection_.take_repeats()) repeats_ = std::move(*repeats);
    const Subject& subject = window_.shown().subject;
    if (repeats_.subject != subject) return;
    for (const Repeats::Measurement& one : std::exchange(repeats_.measurements, {}))
      history_.add(sample_of(one, draw_ms), subject);
  }

  const LiveCommand& command_;
  Screen screen_;
  Detection detection_;
  Capture capture_;  // after detection_, which it posts to
  FrameLimit limit_;
  Toasts toasts_;
  Saving saving_;
  MainWindow window_;
  History history_;
  Repeats repeats_;  // not in the history yet
  std::vector<Sample> all_;
  Clock::time_point begin_;
  int frames_ = 0, failed_frames_ = 0;  // results that were shown
  std::string why_detection_failed_;    // the reason for the first of the failed_frames_
  bool fresh_ = false;                  // a result is about to be shown for the first time
};

// All outputs are written.
[[noreturn]] void end_at_once(int status) {
  if (interrupted()) end_as_interrupted();
  std::_Exit(status);
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
  for (const auto& cascade : cascades)
    for (const std::string& warning : cascade->warnings) say_line("facesat: " + warning);
  check(command.settings.detect);
  const Backends usable(command.settings.backend, cascades);  // throws unless usable
  const bool remembers = command.frames == 0 && !settings_file().empty();
  Panels panels = make_panels();
  Remembered start;
  start.settings = command.settings;
  if (start.settings.cascades.empty()) start.settings.cascades.emplace_back(default_cascade_name);
  if (remembers && !command.ignores_saved_settings)
    start = read_settings(settings_file(), start, panels);
  command.give(start.settings);
  Outputs outputs({"--screenshot", command.screenshot}, {"--times", command.times},
                  {"--record", command.record}, start.settings.cascades);
  for (const std::string& source : command.sources) outputs.check_source(source);
  outputs.check_contents();
  const int status = [&] {
    Live live(command, start, std::move(panels), outputs);
    live.run();
    if (remembers) live.remember();
    const int result = live.status();
    if (live.is_opening()) end_at_once(result);
    return result;
  }();
  if (interrupted()) end_as_interrupted();
  return status;
}

}  // namespace facesat::app
