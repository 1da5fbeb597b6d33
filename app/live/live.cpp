// Capture, detection and drawing each run in a thread of their own, connected by single-place
// mailboxes: the user interface waits for neither a frame nor a device.
#include "app/live/live.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <imgui.h>

#include "app/common/messages.hpp"
#include "app/live/capture.hpp"
#include "app/live/feature_panel.hpp"
#include "app/live/help.hpp"
#include "app/live/history.hpp"
#include "app/live/inspection_overlay.hpp"
#include "app/live/outputs.hpp"
#include "app/live/overlay.hpp"
#include "app/live/panels.hpp"
#include "app/live/picture_view.hpp"
#include "app/live/screen.hpp"
#include "app/live/settings_file.hpp"
#include "app/live/widgets.hpp"
#include "cascades/cascade_store.hpp"
#include "library/media/codec.hpp"
#include "library/media/opencv.hpp"
#include "library/support/errors.hpp"
#include "library/support/files.hpp"
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
        outputs_(outputs),
        screen_("facesat", {1280, 800}, command.vsync),
        detection_(remembered.settings, [] { Screen::wake(); }),
        capture_([this](CapturedFrame frame) { detection_.put(std::move(frame)); },
                 [this](const std::string& source) { outputs_.check_source(source); }),
        settings_(remembered.settings),
        source_(command.camera),
        recording_(command.record),
        labels_(remembered.labels),
        dark_(remembered.dark) {
    opencv();  // loads OpenCV now, so that the first frame's time does not include it
    screen_.set_dark(dark_);
    screen_.set_font_size(remembered.font_size);
    if (!recording_.empty()) detection_.record(recording_);
    capture_.open(command.source, command.camera);
  }

  // Runs until the window is closed, or until an unattended run has shown its frames or gets no
  // more. Then writes the outputs that were given on the command line.
  void run() {
    const bool is_watched = command_.vsync && command_.frames == 0;
    while (!screen_.is_closed() && !interrupted()) {
      screen_.draw([this] { draw(); }, is_watched);
      const bool is_last = (counts() && ++shown_ == command_.frames) || is_over_;
      if (std::exchange(wants_screenshot_, false)) keep_screenshot();
      const double draw_ms = milliseconds(Clock::now() - begin_);
      screen_.show();
      if (std::exchange(fresh_, false)) add_sample(draw_ms);
      take_repeats(draw_ms);
      if (is_last) break;
      // The loop runs once more, which shows a result that was not taken yet.
      is_over_ = command_.frames > 0 && nothing_more_comes();
    }
    write_outputs();
  }

  Remembered choices() const { return {settings_, dark_, labels_, screen_.font_size()}; }

  // The exit status. Throws the error that prevented an output from being written.
  int status() const {
    const bool is_short = is_over_ && shown_ < command_.frames;
    if (is_short && shown_ == 0) throw UsageError(why_over());
    if (is_short)
      say_line(
          fmt::format("facesat: {}, after {} of {} frames", why_over(), shown_, command_.frames));
    if (const std::string remark = detection_.recorder().remark(); !remark.empty())
      say_line(fmt::format("facesat: {}", remark));
    if (failure_) std::rethrow_exception(failure_);
    if (command_.frames > 0 && failed_frames_ > 0)
      throw DeviceError(fmt::format("detection failed in {} of {} frames: {}", failed_frames_,
                                    all_frames_, why_detection_failed_));
    return is_short ? 1 : 0;
  }

 private:
  void draw() {
    begin_ = Clock::now();
    take_result();
    for (const std::string& file : screen_.dropped()) capture_.open(file);
    if (!recording_.empty() && !detection_.recorder().failure().empty()) stop_recording();
    const bool was_typing = ImGui::IsAnyItemActive();
    draw_contents();
    // Whether a control is in use is asked before and after drawing, because that may change in
    // this very frame.
    const std::vector<Screen::Press> presses = screen_.pressed();
    if (!was_typing && !ImGui::IsAnyItemActive() && !ImGui::GetIO().WantTextInput)
      for (const Screen::Press& press : presses) handle_key(press);
  }

  void draw_contents() {
    const ImGuiViewport& screen = *ImGui::GetMainViewport();
    ImGui::SetNextWindowPos(screen.WorkPos);
    ImGui::SetNextWindowSize(screen.WorkSize);
    constexpr ImGuiWindowFlags plain = ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                                       ImGuiWindowFlags_NoBringToFrontOnFocus |
                                       ImGuiWindowFlags_NoSavedSettings;
    ImGui::Begin("facesat", nullptr, plain);
    const float side = std::min(22.5f * ImGui::GetFontSize(), screen.WorkSize.x / 2);
    if (!hides_panels_) {
      ImGui::BeginChild("side", {side, 0});
      draw_side();
      ImGui::EndChild();
      ImGui::SameLine();
    }
    ImGui::BeginChild("picture", {0, 0}, false, ImGuiWindowFlags_NoScrollWithMouse);
    if (view_.draw() && result_.view_is_frame)
      draw_boxes(view_, result_.faces, {.labels = labels_, .highlighted = {}});
    draw_explanations();
    if (!recording_.empty()) draw_recording_mark(Clock::now() - recording_since_);
    ImGui::EndChild();
    ImGui::End();
    if (help_) draw_help(help_);
  }

  // Over the picture.
  void draw_explanations() {
    if (view_.size().area() == 0) return;  // there is none yet
    explorer_.draw_over(view_, result_);
    draw_readings(view_, result_);
  }

  void draw_side() {
    if (failed_)
      draw_warning(notice_);
    else if (!notice_.empty())
      ImGui::TextWrapped("%s", notice_.c_str());
    if (const std::string remark = detection_.recorder().remark(); !remark.empty())
      draw_warning(remark);
    if (ImGui::CollapsingHeader("Source", ImGuiTreeNodeFlags_DefaultOpen)) source_.draw(capture_);
    if (ImGui::CollapsingHeader("Times", ImGuiTreeNodeFlags_DefaultOpen))
      draw_times(history_, detection_.dropped(), result_.frame.is_still);
    if (ImGui::CollapsingHeader("Detection", ImGuiTreeNodeFlags_DefaultOpen)) {
      ImGui::Text("faces: %zu, from %zu windows in %d x %d pixels", result_.faces.size(),
                  result_.windows, result_.frame.picture.pixels.size.width,
                  result_.frame.picture.pixels.size.height);
      if (panel_.draw(settings_, result_)) detection_.set(settings_);
    }
    if (ImGui::CollapsingHeader("SAT algorithms") && draw_comparison(detection_, settings_))
      detection_.set(settings_);
    if (ImGui::CollapsingHeader("View")) {
      bool changed = draw_inspection(settings_.inspection, result_.level_count, opacity_);
      changed |= explorer_.draw_panel(settings_.inspection, result_);
      if (changed) detection_.set(settings_);
      view_.set_opacity(static_cast<float>(opacity_) / 100);
      draw_looks();
      draw_keeping();
    }
    ImGui::TextDisabled("H: help");
  }

  void draw_looks() {
    ImGui::Separator();
    ImGui::Checkbox("labels: neighbours | score", &labels_);
    tooltip(
        "At each box, how many similar windows were merged into the face, and the largest sum that "
        "one of them reached in the last stage of the cascade. Key: L");
    if (ImGui::Button("fit")) view_.fit();
    tooltip("As large as the whole picture fits. Key: F");
    ImGui::SameLine();
    if (ImGui::Button("1:1")) view_.one_to_one();
    tooltip("One pixel of the picture per pixel of the screen. Key: 1");
    if (ImGui::Checkbox("dark", &dark_)) screen_.set_dark(dark_);
    tooltip("Light letters on a dark ground, or the reverse. Key: T");
    int font_size = screen_.font_size();
    if (ImGui::SliderInt("font", &font_size, Screen::smallest_font, Screen::largest_font, "%d px"))
      screen_.set_font_size(font_size);
    tooltip("The size of the letters, and of all controls. Ctrl+plus, Ctrl+minus");
    if (ImGui::Button("reset all settings")) reset();
    tooltip("Everything in these panels as in a new installation");
  }

  void reset() {
    settings_ = {};
    settings_.cascades.emplace_back(default_cascade_name);
    detection_.set(settings_);
    explorer_ = {};
    opacity_ = 100;
    labels_ = Remembered().labels;
    screen_.set_dark(dark_ = Remembered().dark);
    screen_.set_font_size(Remembered().font_size);
  }

  // Buttons that write screenshots, videos and times to the current folder.
  void draw_keeping() {
    if (ImGui::Button("screenshot")) wants_screenshot_ = true;
    tooltip("Writes a picture of this window to the current folder. Ctrl+S");
    ImGui::SameLine();
    if (ImGui::Button(recording_.empty() ? "record" : "stop recording")) toggle_recording();
    tooltip("A video of the frames with their boxes, in the current folder. Ctrl+R");
    ImGui::SameLine();
    if (ImGui::Button("times as CSV"))
      attempt([this] {
        const std::string file = make_dated_file("csv");
        write_times(file, {history_.samples().begin(), history_.samples().end()});
        return fmt::format("{} is written", file);
      });
    tooltip("Writes the times of the last frames to the current folder, as a table");
  }

  void keep_screenshot() {
    attempt([this] {
      const std::string file = make_dated_file("png");
      write_picture(file, screen_.pixels().view());
      return fmt::format("{} is written", file);
    });
  }

  // Calls write() and shows the text that it returns. A failure is shown, too, and determines the
  // exit status.
  template <class Write>
  void attempt(Write write) {
    try {
      notice_ = write();
      failed_ = false;
    } catch (...) {
      notice_ = reason_of(std::current_exception());
      failed_ = true;
      if (!failure_) failure_ = std::make_exception_ptr(OutputError(notice_));
    }
  }

  void toggle_recording() {
    if (!recording_.empty()) return stop_recording();
    attempt([this] {
      recording_ = make_dated_file("avi");
      outputs_.set_recording(recording_);
      detection_.record(recording_);
      recording_since_ = Clock::now();
      return fmt::format("recording {}", recording_);
    });
  }

  void stop_recording() {
    detection_.record("");
    outputs_.set_recording({});
    attempt([this] {
      const std::string file = std::exchange(recording_, "");
      if (const std::string why = detection_.recorder().failure(); !why.empty())
        throw OutputError(why);
      std::error_code ignored;
      if (file != command_.record && std::filesystem::is_empty(file, ignored)) {
        std::filesystem::remove(file, ignored);
        return std::string("there was no frame to record");
      }
      return fmt::format("{} is finished", file);
    });
  }

  void write_outputs() {
    const bool is_nothing_processed = is_over_ && shown_ == 0;
    if (!command_.screenshot.empty() && !is_nothing_processed)
      attempt([this] {
        screen_.draw([this] { draw_contents(); }, false);
        outputs_.check_screenshot();  // again: the file may have appeared meanwhile
        write_picture(command_.screenshot, screen_.pixels().view());
        return "";
      });
    if (!recording_.empty()) stop_recording();
    if (!command_.times.empty() && !is_nothing_processed)
      attempt([this] {
        outputs_.check_times();
        write_times(command_.times, all_);
        return "";
      });
  }

  static void write_times(const std::string& file, const std::vector<Sample>& samples) {
    write_text(file, times_csv(samples));
  }

  // What writes a file or ends the program needs Ctrl.
  void handle_key(const Screen::Press& press) {
    if (press.ctrl) return handle_ctrl_key(press.key);
    switch (press.key) {
      case Screen::right_arrow:
        return capture_.step(1);
      case Screen::left_arrow:
        return capture_.step(-1);
      case Screen::tab:
        hides_panels_ = !hides_panels_;
        return;
      case Screen::f11:
        return screen_.toggle_fullscreen();
      case ' ':
        return capture_.play(!capture_.state().is_playing());
      case 'F':
        return view_.fit();
      case '1':
        return view_.one_to_one();
      case 'L':
        labels_ = !labels_;
        return;
      case 'H':
        help_ = !help_;
        return;
      case 'T':
        return screen_.set_dark(dark_ = !dark_);
      default:
        return;
    }
  }

  void handle_ctrl_key(int key) {
    switch (key) {
      case 'S':
        wants_screenshot_ = true;
        return;
      case 'R':
        return toggle_recording();
      case '+':
      case '=':  // where a US keyboard has the plus
      case Screen::keypad_plus:
        return screen_.set_font_size(screen_.font_size() + 1);
      case '-':
      case Screen::keypad_minus:
        return screen_.set_font_size(screen_.font_size() - 1);
      case 'Q':
        return screen_.close();
      default:
        return;
    }
  }

  // Does this frame of the user interface count for --frames? A still picture counts each time it
  // is drawn.
  bool counts() const {
    return fresh_ || (shown_ > 0 && capture_.state().kind == FrameSource::Kind::pictures);
  }

  bool nothing_more_comes() const {
    const Capture::State state = capture_.state();
    const bool is_picture = state.kind == FrameSource::Kind::pictures;
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
    result_ = std::move(*result);
    const View<const Bgr> frame = result_.frame.picture.pixels;
    if (!result_.view)
      view_.set(frame);
    else if (result_.view_is_frame)
      view_.set(frame, result_.view->colours.view(), static_cast<float>(opacity_) / 100);
    else
      view_.set_apart(frame, result_.view->colours.view());
    fresh_ = true;
    ++all_frames_;
    if (!result_.message.empty() && !result_.comes_again && ++failed_frames_ == 1)
      why_detection_failed_ = result_.message;
  }

  // One entry of the history: these times, with the numbers of the result that is shown. The
  // drawing time excludes the wait for the screen.
  Sample sample_of(const StepTimes& times, double detect_ms, double draw_ms) const {
    Sample sample;
    const auto put_steps = [](const auto& from, LiveSteps& to) {
      std::copy(from.begin(), from.end(), to.begin() + 1);
    };
    put_steps(times.ms, sample.ms);
    put_steps(result_.bytes, sample.bytes);
    put_steps(result_.floors.ms, sample.floor_ms);
    sample.ms.front() = result_.frame.capture_ms;
    sample.ms.back() = draw_ms;
    sample.detect_ms = detect_ms;
    sample.faces = result_.faces.size();
    sample.windows = result_.windows;
    sample.failed = !result_.message.empty();
    sample.shown = Clock::now();
    return sample;
  }

  // Called when a result is shown for the first time. It has a latency only if its frame is new:
  // after a change of settings the last frame is detected again.
  void add_sample(double draw_ms) {
    Sample sample = sample_of(result_.times, result_.detect_ms, draw_ms);
    if (result_.is_new) sample.latency_ms = milliseconds(sample.shown - result_.frame.captured);
    history_.add(sample, result_.subject);
    if (!command_.times.empty()) all_.push_back(sample);
  }

  void take_repeats(double draw_ms) {
    const std::optional<Repeats> repeats = detection_.take_repeats();
    if (!repeats || repeats->subject != result_.subject) return;
    for (const Repeats::Measurement& one : repeats->measurements)
      history_.add(sample_of(one.times, one.detect_ms, draw_ms), result_.subject);
  }

  const LiveCommand& command_;
  Outputs& outputs_;
  Screen screen_;
  PictureView view_;
  Detection detection_;
  Capture capture_;  // after detection_, which it posts to
  LiveSettings settings_;
  SourcePanel source_;
  DetectionPanel panel_;
  FeatureExplorer explorer_;
  int opacity_ = 100;  // of an intermediate picture over the frame, in percent
  LiveResult result_;
  History history_;
  std::vector<Sample> all_;
  Clock::time_point begin_;
  int shown_ = 0, all_frames_ = 0, failed_frames_ = 0;
  std::string why_detection_failed_;  // the reason for the first of the failed_frames_
  std::string recording_;             // the video being recorded; empty: none
  Clock::time_point recording_since_ = Clock::now();
  std::string notice_;          // the last message of attempt()
  bool failed_ = false;         // notice_ is an error message
  std::exception_ptr failure_;  // the first such error
  bool wants_screenshot_ = false;
  bool labels_, dark_;
  bool fresh_ = false, help_ = false, hides_panels_ = false;
  bool is_over_ = false;  // an unattended run gets no more frames
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
  Remembered start{command.settings};
  if (start.settings.cascades.empty()) start.settings.cascades.emplace_back(default_cascade_name);
  if (remembers && !command.ignores_saved_settings) start = read_settings(settings_file(), start);
  command.give(start.settings);
  Outputs outputs({"--screenshot", command.screenshot}, {"--times", command.times},
                  {"--record", command.record}, start.settings.cascades);
  outputs.check_source(command.source);
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
