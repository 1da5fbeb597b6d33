#include "app/live/panels/main_window.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <imgui.h>

#include "app/live/gui/widgets.hpp"
#include "app/live/panels/help.hpp"
#include "app/live/panels/overlay.hpp"
#include "app/live/panels/player_bar.hpp"
#include "cascades/cascade_store.hpp"

namespace facesat::app {
namespace {

constexpr float narrowest_side = 16, widest_side = 45;  // in font sizes

}  // namespace

MainWindow::MainWindow(const Controlled& controlled, const Remembered& remembered,
                       const CameraMode& camera)
    : parts_(controlled),
      settings_(remembered.settings),
      source_(camera),
      looks_(remembered.labels, remembered.dark),
      side_width_(std::clamp(remembered.side_width, narrowest_side, widest_side)),
      recent_(remembered.recent) {
  parts_.screen.set_dark(remembered.dark);
  parts_.screen.set_font_size(remembered.font_size);
}

Remembered MainWindow::choices() const {
  return {.settings = settings_,
          .dark = looks_.dark(),
          .labels = looks_.labels(),
          .font_size = parts_.screen.font_size(),
          .side_width = side_width_,
          .window = parts_.screen.place(),
          .recent = recent_};
}

void MainWindow::show(LiveResult result) {
  result_ = std::move(result);
  const CapturedFrame& frame = result_.frame;
  const View<const Bgr> pixels = frame.picture.pixels;
  if (!result_.view)
    view_.set(pixels);
  else if (result_.view_is_frame)
    view_.set(pixels, result_.view->colours.view(), looks_.opacity());
  else
    view_.set_apart(pixels, result_.view->colours.view());
  const bool is_still = frame.is_still();
  (is_still ? list_marks_ : video_marks_)
      .add({.source = is_still ? frame.list : frame.source,
            .settings = result_.subject.settings,
            .count = frame.count},
           frame.index, !result_.faces.empty());
}

void MainWindow::draw(const History& history) {
  wants_screenshot_ = false;
  if (comparison_.alternate(settings_, result_, std::chrono::steady_clock::now()))
    parts_.detection.set(settings_);
  const bool was_typing = ImGui::IsAnyItemActive();
  draw_contents(history);
  // Whether a control is in use is asked before and after drawing, because that may change in this
  // very frame. Esc also leaves the page on which one types; no control uses these keys with Ctrl.
  const bool is_typing = was_typing || ImGui::IsAnyItemActive() || ImGui::GetIO().WantTextInput;
  for (const Screen::Press& press : parts_.screen.pressed())
    if (press.ctrl || press.key == Screen::escape || !is_typing) handle_key(press);
}

void MainWindow::draw_contents(const History& history) {
  const Capture::State state = parts_.capture.state();
  note_source(state);
  highlighted_ = std::exchange(pointed_, std::nullopt);
  if (highlighted_ && *highlighted_ >= result_.faces.size()) highlighted_.reset();
  parts_.screen.set_dark(looks_.dark());
  const ImGuiViewport& screen = *ImGui::GetMainViewport();
  ImGui::SetNextWindowPos(screen.WorkPos);
  ImGui::SetNextWindowSize(screen.WorkSize);
  constexpr ImGuiWindowFlags plain = ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                                     ImGuiWindowFlags_NoBringToFrontOnFocus |
                                     ImGuiWindowFlags_NoSavedSettings;
  ImGui::Begin("facesat", nullptr, plain);
  const bool has_source = state.kind || state.is_opening;
  if (!hides_panels_ && has_source) {
    const float side = std::min(side_width_ * ImGui::GetFontSize(), screen.WorkSize.x / 2);
    ImGui::BeginChild("side", {side, 0});
    draw_side(history, state);
    ImGui::EndChild();
    draw_splitter();
  }
  ImGui::BeginChild("main", {0, 0}, false, ImGuiWindowFlags_NoScrollWithMouse);
  if (has_source && !opens_)
    draw_main(state);
  else
    draw_start_page(state);
  parts_.toasts.draw();
  ImGui::EndChild();
  ImGui::End();
  if (help_) draw_help(help_);
}

// Between the panels and the picture; dragging it changes the width of the panels.
void MainWindow::draw_splitter() {
  const float width = ImGui::GetStyle().ItemSpacing.x;
  ImGui::SameLine(0, 0);
  ImGui::InvisibleButton("splitter", {width, ImGui::GetContentRegionAvail().y});
  if (ImGui::IsItemHovered() || ImGui::IsItemActive()) {
    ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);
    ImGui::GetWindowDrawList()->AddRectFilled(ImGui::GetItemRectMin(), ImGui::GetItemRectMax(),
                                              ImGui::GetColorU32(ImGuiCol_Separator));
  }
  if (ImGui::IsItemActive()) {
    const float left = ImGui::GetWindowPos().x + ImGui::GetStyle().WindowPadding.x;
    side_width_ = std::clamp((ImGui::GetMousePos().x - left) / ImGui::GetFontSize(), narrowest_side,
                             widest_side);
  }
  ImGui::SameLine(0, 0);
}

void MainWindow::draw_main(const Capture::State& state) {
  const float below = state.kind ? face_strip_height() + player_bar_height(state) : 0;
  ImGui::BeginChild("picture", {0, -below}, false, ImGuiWindowFlags_NoScrollWithMouse);
  draw_picture();
  if (parts_.saving.is_recording()) draw_recording_mark(parts_.saving.recorded());
  ImGui::EndChild();
  if (!state.kind) return;
  follow(draw_face_strip(view_.frame(), result_.faces, highlighted_));
  draw_player_bar(parts_.capture, state,
                  state.kind == FrameSource::Kind::video ? video_marks_ : list_marks_);
}

void MainWindow::draw_picture() {
  if (!view_.draw()) return;
  if (result_.view_is_frame) {
    const auto pointed =
        draw_boxes(view_, result_.faces, {.labels = looks_.labels(), .highlighted = highlighted_});
    follow({.pointed = pointed, .clicked = {}});
  }
  looks_.draw_over(view_, result_);
}

void MainWindow::follow(const PointedFace& user) {
  if (user.pointed) pointed_ = user.pointed;
  if (user.clicked && result_.view_is_frame) view_.zoom_to(result_.faces[*user.clicked].box);
}

void MainWindow::draw_start_page(const Capture::State& state) {
  const auto chosen = start_page_.draw(recent_, state);
  if (!chosen) return;
  if (chosen->empty())
    opens_ = false;
  else
    parts_.capture.open(*chosen, source_.mode());  // the page stays if that is refused
}

void MainWindow::draw_side(const History& history, const Capture::State& state) {
  if (const std::string remark = parts_.detection.recorder().remark(); !remark.empty())
    draw_warning(remark);
  if (ImGui::CollapsingHeader("Source", ImGuiTreeNodeFlags_DefaultOpen) &&
      source_.draw(parts_.capture, state)) {
    opens_ = true;
    start_page_.refresh();
  }
  if (ImGui::CollapsingHeader("Faces", ImGuiTreeNodeFlags_DefaultOpen))
    follow(faces_.draw(result_, state, highlighted_, parts_.saving, parts_.toasts));
  if (ImGui::CollapsingHeader("Times", ImGuiTreeNodeFlags_DefaultOpen))
    if (const auto position =
            times_.draw(history, parts_.detection.dropped(), result_.frame.is_still()))
      show_again(*position, history);
  if (ImGui::CollapsingHeader("SAT algorithms")) draw_comparison();
  if (ImGui::CollapsingHeader("Detection", ImGuiTreeNodeFlags_DefaultOpen) &&
      panel_.draw(settings_, result_))
    parts_.detection.set(settings_);
  if (ImGui::CollapsingHeader("View")) draw_view(history);
  if (ImGui::CollapsingHeader("Screenshots, recordings, times")) {
    if (ImGui::Button("screenshot")) wants_screenshot_ = true;
    tooltip("Of this window, as PNG, into the current folder (Ctrl+S)");
    ImGui::SameLine();
    if (ImGui::Button(parts_.saving.is_recording() ? "stop recording" : "record"))
      parts_.saving.toggle_recording();
    tooltip("The frames with their boxes as a video, into the current folder (Ctrl+R)");
    ImGui::SameLine();
    if (ImGui::Button("times as CSV")) parts_.saving.save_times(history);
    tooltip("The times that the chart shows, one line per frame, into the current folder");
  }
  ImGui::TextDisabled("H: help");
}

// Pauses at a frame of the chart of times, unless the chart is that of the source before.
void MainWindow::show_again(double position, const History& history) {
  if (history.subject().source != result_.frame.source) return;
  parts_.capture.play(false);
  parts_.capture.seek(position);
}

void MainWindow::draw_view(const History& history) {
  if (looks_.draw(settings_, result_, history, view_, parts_.screen))
    parts_.detection.set(settings_);
  if (ImGui::Button("reset all settings")) reset();
  tooltip("Detection, view and theme as at the first start");
}

void MainWindow::draw_comparison() {
  const ComparisonPanel::Wish wish =
      comparison_.draw(parts_.detection.comparison().get(), settings_, result_);
  if (wish.comparison) parts_.detection.compare();
  if (wish.settings) parts_.detection.set(settings_);
}

void MainWindow::reset() {
  settings_ = {};
  settings_.cascades.emplace_back(default_cascade_name);
  parts_.detection.set(settings_);
  const Remembered first;
  looks_ = ViewPanel(first.labels, first.dark);
  side_width_ = first.side_width;
  parts_.screen.set_font_size(first.font_size);
}

void MainWindow::toggle_filter() {
  Inspection& inspection = settings_.inspection;
  inspection.filtered = !inspection.filtered;
  inspection.picture.reset();
  if (inspection.filtered) inspection.picture = Snapshot::gray;
  parts_.detection.set(settings_);
}

// Keeps the title and the list of recent sources up to date, and tells what cannot be opened.
void MainWindow::note_source(const Capture::State& state) {
  if (state.lists != lists_ && state.names.size() == 1 && !state.names.front().empty())
    add_recent(recent_, state.names.front());
  if (std::exchange(lists_, state.lists) != state.lists) opens_ = false;
  const bool is_refused = std::exchange(refused_, state.refused) != state.refused;
  if (is_refused && !state.refused.empty() && state.kind && !opens_)
    parts_.toasts.warn(state.refused);
  if (!state.kind || result_.backend.empty()) return parts_.screen.set_title("facesat");
  parts_.screen.set_title(fmt::format("{} - {} - facesat", state.title, result_.backend));
}

// What writes a file or ends the program needs Ctrl.
void MainWindow::handle_key(const Screen::Press& press) {
  if (press.ctrl) return handle_ctrl_key(press.key);
  Capture& capture = parts_.capture;
  switch (press.key) {
    case Screen::right_arrow:
      return capture.step(1);
    case Screen::left_arrow:
      return capture.step(-1);
    case Screen::page_down:
      return capture.skip(1);
    case Screen::page_up:
      return capture.skip(-1);
    case Screen::tab:
      hides_panels_ = !hides_panels_;
      return;
    case Screen::escape:
      if (!close_lists()) opens_ = help_ = false;
      return;
    case Screen::f11:
      return parts_.screen.toggle_fullscreen();
    case ' ':
      return capture.play(!capture.state().is_playing());
    case 'F':
      return view_.fit();
    case '1':
      return view_.one_to_one();
    case 'L':
      return looks_.toggle_labels();
    case 'H':
      help_ = !help_;
      return;
    case 'X':
      if (comparison_.switch_algorithm(settings_, result_)) parts_.detection.set(settings_);
      return;
    case 'V':
      return toggle_filter();
    case 'T':
      return looks_.toggle_dark();
    default:
      return;
  }
}

void MainWindow::handle_ctrl_key(int key) {
  Screen& screen = parts_.screen;
  switch (key) {
    case 'O':
      opens_ = true;
      return start_page_.refresh();
    case 'S':
      wants_screenshot_ = true;
      return;
    case 'R':
      return parts_.saving.toggle_recording();
    case '+':
    case '=':  // where a US keyboard has the plus
    case Screen::keypad_plus:
      return screen.set_font_size(screen.font_size() + 1);
    case '-':
    case Screen::keypad_minus:
      return screen.set_font_size(screen.font_size() - 1);
    case 'Q':
      return screen.close();
    default:
      return;
  }
}

}  // namespace facesat::app
