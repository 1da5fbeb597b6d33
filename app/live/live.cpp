// Capture, detection and drawing run in a thread each, with one place between them: the user
// interface waits for neither a frame nor a device.
#include "app/live/live.hpp"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <utility>

#include "cascades/cascade_store.hpp"
#include <fmt/format.h>
#include <imgui.h>

#include "app/errors.hpp"
#include "app/io/codec.hpp"
#include "app/io/files.hpp"
#include "app/live/capture.hpp"
#include "app/live/history.hpp"
#include "app/live/panels.hpp"
#include "app/live/picture_view.hpp"
#include "app/live/screen.hpp"
#include "app/live/settings_file.hpp"
#include "app/messages.hpp"
#include "app/opencv/opencv.hpp"
#include "app/parse_size.hpp"

namespace facesat::app {
namespace {

using Clock = std::chrono::steady_clock;

double milliseconds(Clock::duration d) {
  return std::chrono::duration<double, std::milli>(d).count();
}

class Live {
 public:
  Live(const LiveCommand& command, const Remembered& remembered)
      : command_(command),
        screen_("facesat", {1280, 800}, command.vsync),
        detection_(remembered.settings, [] { Screen::wake(); }),
        capture_([this](LiveFrame frame) { detection_.put(std::move(frame)); }),
        settings_(remembered.settings),
        source_(command.camera),
        labels_(remembered.labels),
        dark_(remembered.dark) {
    opencv();  // loaded here, it does not count as the first frame's time
    screen_.set_dark(dark_);
    capture_.open(command.source, command.camera);
    if (!command.record.empty()) detection_.record(command.record, 25);
  }

  // What the user has chosen by the end. Throws where an unattended run ends before its frames.
  Remembered run() {
    const bool is_watched = command_.vsync && command_.frames == 0;
    bool is_over = false;
    while (screen_.draw([this] { draw(); }, is_watched)) {
      const bool is_last = (counts() && ++shown_ == command_.frames) || is_over;
      if (is_last && !command_.screenshot.empty())
        write_picture(command_.screenshot, screen_.pixels().view());
      if (std::exchange(wants_screenshot_, false))
        keep(dated_name("png"),
             [this](const std::string& file) { write_picture(file, screen_.pixels().view()); });
      const double draw_ms = milliseconds(Clock::now() - begin_);
      screen_.show();
      if (std::exchange(fresh_, false)) add_sample(draw_ms);
      if (is_last) break;
      is_over = command_.frames > 0 && nothing_more_comes();  // but perhaps one result is there
    }
    if (!command_.times.empty()) write_times(command_.times, all_);
    if (is_over && shown_ < command_.frames) complain();
    return {settings_, dark_, labels_};
  }

 private:
  void draw() {
    begin_ = Clock::now();
    take_result();
    for (const std::string& file : screen_.dropped()) capture_.open(file);
    const std::vector<int> keys = screen_.pressed();
    if (!ImGui::GetIO().WantTextInput)
      for (const int key : keys) handle_key(key);

    const ImGuiViewport& screen = *ImGui::GetMainViewport();
    ImGui::SetNextWindowPos(screen.WorkPos);
    ImGui::SetNextWindowSize(screen.WorkSize);
    constexpr ImGuiWindowFlags plain = ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                                       ImGuiWindowFlags_NoBringToFrontOnFocus |
                                       ImGuiWindowFlags_NoSavedSettings;
    ImGui::Begin("facesat", nullptr, plain);
    const float side = std::min(360 * screen_.scale(), screen.WorkSize.x / 2);
    ImGui::BeginChild("side", {side, 0});
    draw_side();
    ImGui::EndChild();
    ImGui::SameLine();
    ImGui::BeginChild("picture", {0, 0}, false, ImGuiWindowFlags_NoScrollWithMouse);
    view_.draw(result_.view_is_frame ? result_.faces : std::vector<FoundFace>(), labels_);
    ImGui::EndChild();
    ImGui::End();
    if (help_) draw_help();
  }

  void draw_side() {
    if (ImGui::CollapsingHeader("Source", ImGuiTreeNodeFlags_DefaultOpen)) source_.draw(capture_);
    if (ImGui::CollapsingHeader("Times", ImGuiTreeNodeFlags_DefaultOpen))
      draw_times(history_, detection_.dropped(), result_);
    if (ImGui::CollapsingHeader("Detection", ImGuiTreeNodeFlags_DefaultOpen)) {
      ImGui::Text("faces: %zu, from %zu windows in %d x %d pixels", result_.faces.size(),
                  result_.windows, result_.frame.picture.pixels.size.width,
                  result_.frame.picture.pixels.size.height);
      if (panel_.draw(settings_, result_)) detection_.set(settings_);
    }
    if (ImGui::CollapsingHeader("SAT algorithms") && draw_comparison(detection_, settings_))
      detection_.set(settings_);
    if (ImGui::CollapsingHeader("View")) {
      if (draw_inspection(settings_.inspection, result_.level_count)) detection_.set(settings_);
      ImGui::Checkbox("labels: neighbours | score", &labels_);
      if (ImGui::Button("fit")) view_.fit();
      ImGui::SameLine();
      if (ImGui::Button("1:1")) view_.one_to_one();
      if (ImGui::Checkbox("dark", &dark_)) screen_.set_dark(dark_);
      draw_keeping();
    }
    ImGui::TextDisabled("H: help");
  }

  // Screenshots, films and times for later, in the current folder.
  void draw_keeping() {
    if (ImGui::Button("screenshot")) wants_screenshot_ = true;
    ImGui::SameLine();
    if (ImGui::Button(recording_.empty() ? "record" : "stop recording")) toggle_recording();
    ImGui::SameLine();
    if (ImGui::Button("times as CSV"))
      keep(dated_name("csv"), [this](const std::string& file) {
        write_times(file, {history_.samples().begin(), history_.samples().end()});
      });
    for (const std::string& message : {kept_, detection_.recorder_message()})
      if (!message.empty()) ImGui::TextWrapped("%s", message.c_str());
  }

  // Calls write(file), and tells what came of it.
  template <class Write>
  void keep(const std::string& file, Write write) {
    try {
      write(file);
      kept_ = file;
    } catch (const Error& error) {
      kept_ = error.what();
    }
  }

  void toggle_recording() {
    recording_ = recording_.empty() ? dated_name("avi") : "";
    detection_.record(recording_, std::max(1.0, history_.frames_per_second()));
    kept_ = recording_.empty() ? "the film is finished" : fmt::format("recording {}", recording_);
  }

  static std::string dated_name(const char* extension) {
    const std::time_t now = std::time(nullptr);
    char date[32];
    std::strftime(date, sizeof date, "%Y%m%d-%H%M%S", std::localtime(&now));
    return fmt::format("facesat-{}.{}", date, extension);
  }

  static void write_times(const std::string& file, const std::vector<Sample>& samples) {
    const std::string text = times_csv(samples);
    write_file(file, {reinterpret_cast<const unsigned char*>(text.data()), text.size()});
  }

  void handle_key(int key) {
    switch (key) {
      case Screen::right_arrow:
        return capture_.step(1);
      case Screen::left_arrow:
        return capture_.step(-1);
      case ' ':
        return capture_.play(!capture_.state().playing);
      case 'S':
        wants_screenshot_ = true;
        return;
      case 'R':
        return toggle_recording();
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
      case 'Q':
        return screen_.close();
      default:
        return;
    }
  }

  void draw_help() {
    ImGui::Begin("Keys", &help_, ImGuiWindowFlags_AlwaysAutoResize);
    ImGui::TextUnformatted(
        "space        play, pause\n"
        "left, right  a frame or picture back, on\n"
        "wheel, drag  zoom, pan; double click: fit or 1:1\n"
        "F, 1         fit, 1:1\n"
        "L            labels\n"
        "S, R         screenshot, record a film or end it\n"
        "T            dark or light\n"
        "H            this\n"
        "Q            quit\n"
        "Drop a film, a picture or a folder onto the window to open it.");
    ImGui::End();
  }

  // Does this frame of the user interface count for --frames? A still picture is shown again and
  // again.
  bool counts() const {
    return fresh_ || (shown_ > 0 && capture_.state().kind == Source::Kind::pictures);
  }

  bool nothing_more_comes() const {
    const Capture::State state = capture_.state();
    const bool is_picture = state.kind == Source::Kind::pictures;
    const bool ended = is_picture ? shown_ == 0 && !state.message.empty() : state.exhausted;
    return !state.refused.empty() || (ended && detection_.idle());
  }

  [[noreturn]] void complain() const {
    const Capture::State state = capture_.state();
    const std::string reason = state.refused.empty() ? state.message : state.refused;
    if (shown_ == 0) throw UsageError(reason);
    throw OutputError(fmt::format("{}, after {} of {} frames", reason, shown_, command_.frames));
  }

  void take_result() {
    std::optional<LiveResult> result = detection_.take();
    if (!result) return;
    result_ = std::move(*result);
    const View<const Bgr> frame = result_.frame.picture.pixels;
    const View<const Bgr> view = result_.view ? View<const Bgr>(result_.view->view()) : frame;
    view_.set(view, result_.view_is_frame ? frame.size : view.size);
    fresh_ = true;
    settings_ = detection_.settings();  // where the CPU took over, the choice has changed
  }

  // Of a result that was shown for the first time. Drawing is our own work, without the wait for
  // the screen.
  void add_sample(double draw_ms) {
    Sample sample;
    sample.ms.front() = capture_.state().frame_ms;
    std::copy(result_.times.ms.begin(), result_.times.ms.end(), sample.ms.begin() + 1);
    sample.ms.back() = draw_ms;
    sample.detect_ms = result_.detect_ms;
    sample.shown = Clock::now();
    sample.latency_ms = milliseconds(sample.shown - result_.frame.captured);
    sample.faces = result_.faces.size();
    sample.windows = result_.windows;
    history_.add(sample);
    if (!command_.times.empty()) all_.push_back(sample);
  }

  const LiveCommand& command_;
  Screen screen_;
  PictureView view_;
  Detection detection_;
  Capture capture_;  // behind detection_: it posts there
  LiveSettings settings_;
  SourcePanel source_;
  DetectionPanel panel_;
  LiveResult result_;
  History history_;
  std::vector<Sample> all_;
  Clock::time_point begin_;
  int shown_ = 0;
  std::string recording_, kept_;  // a film's name; what was kept last
  bool wants_screenshot_ = false;
  bool labels_, dark_;
  bool fresh_ = false, help_ = false;
};

}  // namespace

bool has_window() {
  return true;
}

CLI::App* add_live(CLI::App& program, LiveCommand& command) {
  CLI::App* live = program.add_subcommand("live", "The window: faces and times, live");
  live->add_option(
          "SOURCE", command.source,
          "A camera's number or device, a film, a stream's URL, a picture or a folder [the "
          "first camera]")
      ->type_name("");
  add_size(*live, "--camera-size", command.camera.size,
           "Ask the camera for pictures of this size [as it likes]")
      ->type_name("WxH");
  live->add_option("--camera-fps", command.camera.frames_per_second,
                   "Ask the camera for so many frames a second [as it likes]")
      ->type_name("F")
      ->check(CLI::Range(1, 1000).description(""));
  live->add_option("--cascade", command.settings.cascades, "As for 'facesat detect'; repeatable")
      ->type_name("NAME|FILE")
      ->take_all()
      ->expected(1);
  live->add_option("--scale-factor", command.settings.detect.scale_factor, "[1.1]")->type_name("F");
  live->add_option("--min-neighbors", command.settings.detect.min_neighbors, "[3]")->type_name("N");
  add_backend_options(*live, command.settings.backend);
  live->add_option("--frames", command.frames, "End when so many frames were shown")
      ->type_name("N")
      ->check(CLI::PositiveNumber.description(""));
  live->add_option("--screenshot", command.screenshot, "Write what was shown last, at the end")
      ->type_name("FILE");
  live->add_option("--record", command.record, "Write the frames with their boxes into a film")
      ->type_name("FILE");
  live->add_option("--times", command.times, "Write the times of all frames as CSV, at the end")
      ->type_name("FILE");
  live->add_flag_callback(
      "--no-vsync", [&command] { command.vsync = false; }, "Draw as fast as possible");
  live->add_flag("--forget", command.forgets,
                 "Start with the defaults instead of the choices of the last time");
  live->final_callback([live, &command] {
    command.give = [live, given = command.settings](LiveSettings& to) {
      const auto is_given = [live](const char* name) { return live->count(name) > 0; };
      if (is_given("--cascade")) to.cascades = given.cascades;
      if (is_given("--scale-factor")) to.detect.scale_factor = given.detect.scale_factor;
      if (is_given("--min-neighbors")) to.detect.min_neighbors = given.detect.min_neighbors;
      if (is_given("--backend") || is_given("--device") || is_given("--sat"))
        to.backend = given.backend;
    };
  });
  return live;
}

int run_live(const LiveCommand& command) {
  keep_standard_error_to_ourselves();
  for (const std::string& cascade : command.settings.cascades) find_cascade(cascade);
  check(command.settings.detect);
  const bool remembers = command.frames == 0 && !command.forgets && !settings_file().empty();
  Remembered start{command.settings};
  if (start.settings.cascades.empty()) start.settings.cascades.emplace_back(default_cascade_name);
  if (remembers) start = read_settings(settings_file(), start);
  command.give(start.settings);
  const Remembered end = Live(command, start).run();
  if (remembers) write_settings(settings_file(), end);
  return 0;
}

}  // namespace facesat::app
