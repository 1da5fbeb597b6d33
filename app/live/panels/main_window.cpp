#include "app/live/panels/main_window.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include <fmt/format.h>
#include <imgui.h>

#include "app/live/gui/widgets.hpp"

namespace facesat::app {
namespace {

constexpr float narrowest_side = 16, widest_side = 45;  // in font sizes

// The list of keys. `is_open` becomes false when the user closes it.
void draw_help(bool& is_open) {
  const ImGuiViewport& screen = *ImGui::GetMainViewport();
  ImGui::SetNextWindowPos(screen.GetWorkCenter(), ImGuiCond_Appearing, {0.5f, 0.5f});
  ImGui::SetNextWindowSizeConstraints({0, 0}, screen.WorkSize);
  ImGui::Begin("Keys", &is_open, ImGuiWindowFlags_AlwaysAutoResize);
  struct Key {
    const char *key, *meaning;
  };
  // What writes a file or ends the program needs Ctrl.
  static constexpr std::array<Key, 27> keys{{
      {"Space", "play, pause"},
      {"Left, Right", "previous, next frame of a video; else picture"},
      {"Page Up, Page Down", "previous, next picture or video of the list"},
      {"Wheel, drag", "zoom, move the picture; double click: fit or 1:1"},
      {"F, 1", "fit, 1:1"},
      {"C", "pin this picture beside what follows, or unpin it"},
      {"G", "all pictures of the list, or the one that is shown"},
      {"M, R", "mirror, rotate by a quarter"},
      {"L", "labels"},
      {"Delete", "reject the face under the pointer: it is left out of all that is saved"},
      {"T", "dark or light"},
      {"V", "filtered image or frame"},
      {"X", "the other one of two pinned SAT algorithms (GPU)"},
      {"Tab", "panels on or off"},
      {"F11", "full screen on or off"},
      {"H", "this help"},
      {"Click", "explain the face or place; another click: the window follows the pointer"},
      {"Shift+drag", "follow what is in the box; Shift+click or Esc: no longer"},
      {"B", "mark objects with boxes, to train a detector for them, or no longer"},
      {"Esc", "back to the picture"},
      {"Ctrl+O", "open something else"},
      {"Ctrl+S", "screenshot"},
      {"Ctrl+Z", "undo the last change of a setting of detection"},
      {"Ctrl+R", "start or stop recording"},
      {"Ctrl+plus, Ctrl+minus", "larger, smaller letters"},
      {"Ctrl+Q", "quit"},
      {"Drop", "videos, pictures or folders onto the window to open them"},
  }};
  if (ImGui::BeginTable("keys", 2, ImGuiTableFlags_SizingFixedFit)) {
    for (const Key& key : keys) {
      ImGui::TableNextColumn();
      ImGui::TextUnformatted(key.key);
      ImGui::TableNextColumn();
      ImGui::TextUnformatted(key.meaning);
    }
    ImGui::EndTable();
  }
  ImGui::End();
}

}  // namespace

Panels make_panels() {
  Panels panels;
#define FACESAT_PANEL(name) panels.push_back(make_##name##_panel());
#include "app/live/panels/panels.def"
#undef FACESAT_PANEL
  return panels;
}

// What is no change of detection: what is shown and measured, and the SAT algorithm, which may
// alternate by itself.
static void keep_what_is_shown(LiveSettings& settings, const LiveSettings& of) {
  settings.inspection = of.inspection;
  settings.kernels = of.kernels;
  settings.backend.sat = of.backend.sat;
}

void SettingsHistory::note(const LiveSettings& now) {
  constexpr std::size_t most = 50;
  constexpr std::chrono::seconds one_change(1);
  if (!now_) now_ = now;
  LiveSettings like_now = now;
  keep_what_is_shown(like_now, *now_);
  if (like_now != *now_) {
    const Clock::time_point time = Clock::now();
    const bool is_new = time - std::exchange(changed_, time) > one_change;
    if (is_new || before_.empty()) before_.push_back(*now_);
    if (before_.size() > most) before_.erase(before_.begin());
  }
  now_ = now;
}

std::optional<LiveSettings> SettingsHistory::undo() {
  if (before_.empty()) return std::nullopt;
  now_ = before_.back();
  before_.pop_back();
  changed_ = {};
  return now_;
}

MainWindow::MainWindow(const Controlled& controlled, const Remembered& remembered, Panels panels,
                       const CameraMode& camera)
    : parts_(controlled), choices_(remembered), camera_(camera), panels_(std::move(panels)) {
  choices_.side_width = std::clamp(choices_.side_width, narrowest_side, widest_side);
  parts_.screen.set_dark(choices_.dark);
  parts_.screen.set_font_size(choices_.font_size);
  choices_.font_size = parts_.screen.font_size();
}

Remembered MainWindow::choices() const {
  Remembered choices = choices_;
  choices.window = parts_.screen.place();
  return choices;
}

void MainWindow::show(LiveResult result) {
  const std::uint64_t list_before = result_.frame.list;
  const Size size_before = result_.frame.picture.pixels.size;
  result_ = std::move(result);
  const CapturedFrame& frame = result_.frame;
  if (frame.list != list_before || frame.picture.pixels.size != size_before) view_.fit();
  pinned_.note(result_, view_);
  const View<const Bgr> pixels = frame.picture.pixels;
  if (!result_.view)
    view_.set(pixels);
  else if (result_.view_is_frame)
    view_.set(pixels, result_.view->colours.view());
  else
    view_.set_apart(pixels, result_.view->colours.view());
  const bool is_still = frame.is_still();
  (is_still ? list_marks_ : video_marks_)
      .add({.source = is_still ? frame.list : frame.source,
            .settings = result_.subject.settings,
            .count = frame.count},
           frame.index, !result_.faces.empty());
  if (!is_still && frame.entries > 1 && !result_.faces.empty())  // in one frame at least
    list_marks_.add(
        {.source = frame.list, .settings = result_.subject.settings, .count = frame.entries},
        frame.entry, true);
}

bool MainWindow::drop_what_is_gone() {
  const Capture::State state = parts_.capture.state();
  if (!state.failed || state.source == result_.frame.source) return false;
  LiveResult nothing;
  nothing.frame.source = state.source;
  nothing.frame.list = state.lists;
  nothing.frame.kind = FrameSource::Kind::picture;
  nothing.settings = std::move(result_.settings);
  nothing.backend = std::move(result_.backend);
  nothing.sat = std::move(result_.sat);
  result_ = std::move(nothing);
  view_.clear();
  return true;
}

void MainWindow::measured(const History& history) {
  for (const auto& panel : panels_) panel->note_times(history, result_);
}

PanelContext MainWindow::context_of(const History& history, const Capture::State& state,
                                    const Comparison* comparison) {
  return {.result = result_,
          .history = history,
          .source = state,
          .comparison = comparison,
          .dropped = parts_.detection.dropped(),
          .machine = machine_,
          .highlighted = {},
          .now = std::chrono::steady_clock::now(),
          .choices = choices_,
          .camera = camera_,
          .view = view_,
          .saving = parts_.saving,
          .toasts = parts_.toasts,
          .wishes = {}};
}

void MainWindow::draw(const History& history) {
  wants_screenshot_ = false;
  const Capture::State state = parts_.capture.state();
  const auto comparison = parts_.detection.comparison();
  PanelContext context = context_of(history, state, comparison.get());
  for (const auto& panel : panels_) panel->begin(context);
  carry_out(context);
  const bool was_typing = ImGui::IsAnyItemActive();
  draw_contents(context);
  // Whether a control is in use is asked before and after drawing, because that may change in this
  // very frame. Esc also leaves the page on which one types; of the keys with Ctrl, controls use Z.
  const bool is_typing = was_typing || ImGui::IsAnyItemActive() || ImGui::GetIO().WantTextInput;
  context.highlighted = pointed_;  // in what was just drawn
  for (const Screen::Press& press : parts_.screen.pressed())
    if (press.key == Screen::escape && is_typing)
      close_front();
    else if (!is_typing || (press.ctrl && press.key != 'Z'))
      handle_key(press, context);
}

void MainWindow::draw_contents(const History& history) {
  const Capture::State state = parts_.capture.state();
  const auto comparison = parts_.detection.comparison();
  PanelContext context = context_of(history, state, comparison.get());
  draw_contents(context);
}

void MainWindow::draw_contents(PanelContext& context) {
  const Capture::State& state = context.source;
  note_source(state);
  highlighted_ = std::exchange(pointed_, std::nullopt);
  if (highlighted_ && *highlighted_ >= result_.faces.size()) highlighted_.reset();
  context.highlighted = highlighted_;
  parts_.screen.set_dark(choices_.dark);
  const ImGuiViewport& screen = *ImGui::GetMainViewport();
  ImGui::SetNextWindowPos(screen.WorkPos);
  ImGui::SetNextWindowSize(screen.WorkSize);
  constexpr ImGuiWindowFlags plain = ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                                     ImGuiWindowFlags_NoBringToFrontOnFocus |
                                     ImGuiWindowFlags_NoSavedSettings;
  ImGui::Begin("facesat", nullptr, plain);
  const bool has_source = state.kind || state.is_opening;
  const bool has_sides = !hides_panels_ && has_source;
  const bool has_right_side = has_sides && !opens_ && is_wanted(context, Panel::Side::right);
  const float side = std::min(choices_.side_width * ImGui::GetFontSize(),
                              screen.WorkSize.x / (has_right_side ? 3 : 2));
  if (has_sides) {
    ImGui::BeginChild("side", {side, 0});
    draw_side(context, Panel::Side::left);
    ImGui::EndChild();
    draw_splitter();
  }
  const float gap = ImGui::GetStyle().ItemSpacing.x;
  ImGui::BeginChild("main", {has_right_side ? -side - gap : 0, 0}, false,
                    ImGuiWindowFlags_NoScrollWithMouse);
  if (has_source && !opens_)
    draw_main(context);
  else
    draw_start_page(state);
  parts_.toasts.draw();
  ImGui::EndChild();
  if (has_right_side) {
    ImGui::SameLine();
    ImGui::BeginChild("right side");
    draw_side(context, Panel::Side::right);
    ImGui::EndChild();
  }
  ImGui::End();
  if (help_) draw_help(help_);
}

bool MainWindow::is_wanted(const PanelContext& context, Panel::Side side) const {
  return std::any_of(panels_.begin(), panels_.end(), [&](const auto& panel) {
    return panel->side() == side && panel->is_wanted(context);
  });
}

void MainWindow::draw_side(PanelContext& context, Panel::Side side) {
  const bool is_left = side == Panel::Side::left;
  if (const std::string remark = parts_.detection.recorder().remark(); is_left && !remark.empty())
    draw_warning(remark);
  for (const auto& panel : panels_) {
    if (panel->side() != side || !panel->is_wanted(context)) continue;
    const ImGuiTreeNodeFlags is_open =
        panel->is_open_at_first() ? ImGuiTreeNodeFlags_DefaultOpen : ImGuiTreeNodeFlags_None;
    if (!ImGui::CollapsingHeader(panel->title(), is_open)) continue;
    ImGui::PushID(panel->title());  // panels may have controls of the same name
    panel->draw(context);
    ImGui::PopID();
  }
  carry_out(context);
}

void MainWindow::carry_out(PanelContext& context) {
  const Wishes wishes = std::exchange(context.wishes, {});
  parts_.screen.set_font_size(choices_.font_size);
  choices_.font_size = parts_.screen.font_size();
  settings_history_.note(choices_.settings);
  if (wishes.settings) parts_.detection.set(choices_.settings);
  if (wishes.cascades) parts_.detection.reload_cascades();
  if (wishes.comparison) parts_.detection.compare();
  if (wishes.list_comparison && context.source.list) {
    SourceNames pictures;
    for (const PlaylistEntry& entry : *context.source.list) pictures.push_back(entry.source);
    parts_.detection.compare(std::move(pictures));
  }
  if (wishes.open) parts_.capture.open(*wishes.open, camera_);
  if (wishes.followed)
    parts_.detection.follow(wishes.followed->width > 0
                                ? std::optional(mark(result_.frame, *wishes.followed))
                                : std::nullopt);
  if (wishes.pause) parts_.capture.play(false);
  if (wishes.seek) show_again(*wishes.seek, context.history);
  follow({wishes.pointed_face, wishes.clicked_face});
  if (!wishes.start_page) return;
  opens_ = true;
  start_page_.refresh();
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
    choices_.side_width = std::clamp((ImGui::GetMousePos().x - left) / ImGui::GetFontSize(),
                                     narrowest_side, widest_side);
  }
  ImGui::SameLine(0, 0);
}

void MainWindow::draw_main(PanelContext& context) {
  const Capture::State& state = context.source;
  const float below = state.kind ? face_strip_height() + player_bar_height(state) : 0;
  ImGui::BeginChild("picture", {0, -below}, false, ImGuiWindowFlags_NoScrollWithMouse);
  shows_grid_ &= state.count > 1;
  if (shows_grid_)
    draw_grid(state);
  else
    draw_picture(context);
  carry_out(context);
  if (parts_.saving.is_recording()) draw_recording_mark(parts_.saving.recorded());
  ImGui::EndChild();
  if (!state.kind) return;
  if (state.failed)  // there is nothing that could have faces
    ImGui::Dummy({0, face_strip_height() - ImGui::GetStyle().ItemSpacing.y});
  else
    follow(draw_face_strip(view_.frame(), result_.faces, highlighted_));
  const FaceMarks& marks = state.kind == FrameSource::Kind::video ? video_marks_ : list_marks_;
  if (const auto tool = draw_player_bar(parts_.capture, state, marks, parts_.saving.is_recording(),
                                        pinned_.is_there()))
    use(*tool);
}

void MainWindow::draw_grid(const Capture::State& state) {
  const std::optional<std::size_t> clicked = grid_.draw(state, list_marks_);
  if (!clicked) return;
  shows_grid_ = false;
  if (*clicked != state.entry) parts_.capture.show(*clicked);
}

void MainWindow::use(Tool tool) {
  switch (tool) {
    case Tool::grid:
      shows_grid_ = !shows_grid_;
      return grid_.appear();
    case Tool::compare:
      return pinned_.toggle(result_, view_);
    case Tool::screenshot:
      wants_screenshot_ = true;
      return;
    case Tool::record:
      if (!parts_.saving.is_recording() && result_.frame.is_still() &&
          !parts_.capture.state().is_playing())
        return parts_.toasts.say(
            "there is nothing to record: a picture stands still. Ctrl+S saves a screenshot, "
            "\"boxes\" under Faces the picture");
      return parts_.saving.toggle_recording();
    case Tool::theme:
      choices_.dark = !choices_.dark;
      return;
    case Tool::help:
      help_ = !help_;
      return;
  }
}

// Of the result that is shown, and of the pinned one.
void MainWindow::draw_faces() {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const ImVec2 corner = view_.corner(), space = view_.space();
  const float left = pinned_.fits(result_) ? view_.line() : corner.x;
  list.PushClipRect({left, corner.y}, {corner.x + space.x, corner.y + space.y}, true);
  const bool explains = choices_.settings.inspection.explains;
  const auto pointed = draw_boxes(view_, result_.faces,
                                  {.labels = choices_.labels,
                                   .highlighted = highlighted_,
                                   .hint = view_.draws_boxes() ? "  click: mark"
                                           : explains          ? ""
                                                               : "  click: why?"});
  list.PopClipRect();
  follow({.pointed = pointed, .clicked = {}});
  pinned_.draw(view_, result_, choices_.labels);
}

void MainWindow::draw_picture(PanelContext& context) {
  const int opacity = choices_.opacities.of(result_.settings.inspection);
  view_.set_opacity(static_cast<float>(opacity) / 100);
  if (!view_.draw()) {
    if (!context.source.failed) return;
    const ImVec2 space = ImGui::GetContentRegionAvail();
    ImGui::SetCursorPosY(space.y / 2);
    ImGui::Indent(space.x / 4);
    ImGui::PushTextWrapPos(space.x * 3 / 4);
    draw_warning(context.source.message);
    ImGui::PopTextWrapPos();
    ImGui::Unindent(space.x / 4);
    return;
  }
  if (result_.view_is_frame) draw_faces();
  for (const auto& panel : panels_) panel->draw_over(context);
}

void MainWindow::follow(const PointedFace& user) {
  if (user.pointed) pointed_ = user.pointed;
  if (user.clicked && result_.view_is_frame) view_.zoom_to(result_.faces[*user.clicked].box);
}

void MainWindow::draw_start_page(const Capture::State& state) {
  const auto chosen = start_page_.draw(choices_.recent, state);
  if (!chosen) return;
  if (chosen->empty())
    opens_ = false;
  else
    parts_.capture.open(*chosen, camera_);  // the page stays if that is refused
}

// Pauses at a frame of the chart of times, unless the chart is that of the source before.
void MainWindow::show_again(double position, const History& history) {
  if (history.subject().source != result_.frame.source) return;
  parts_.capture.play(false);
  parts_.capture.seek(position);
}

// Keeps the title and the list of recent sources up to date, and tells what cannot be opened.
void MainWindow::note_source(const Capture::State& state) {
  if (state.lists != lists_ && state.names.size() == 1 && !state.names.front().empty())
    add_recent(choices_.recent, state.names.front());
  if (std::exchange(lists_, state.lists) != state.lists) {
    opens_ = false;
    choices_.settings.rejected.clear();  // they are of the list before
    list_marks_ = video_marks_ = {};
  }
  const bool is_refused = std::exchange(refused_, state.refused) != state.refused;
  if (is_refused && !state.refused.empty() && state.kind && !opens_)
    parts_.toasts.warn(state.refused);
  if (!state.kind || result_.backend.empty()) return parts_.screen.set_title("facesat");
  parts_.screen.set_title(fmt::format("{} - {} - facesat", state.title, result_.backend));
}

void MainWindow::handle_key(const Screen::Press& press, PanelContext& context) {
  if (press.key == Screen::escape && close_front()) return;
  const bool is_of_a_panel = std::any_of(panels_.begin(), panels_.end(), [&](const auto& panel) {
    return panel->handle_key(press, context);
  });
  if (!is_of_a_panel) press.ctrl ? handle_own_ctrl_key(press.key) : handle_own_key(press.key);
  carry_out(context);
}

// What is in front of the picture. Returns false if nothing is.
bool MainWindow::close_front() {
  if (close_lists()) return true;
  const bool help = std::exchange(help_, false), start_page = std::exchange(opens_, false);
  const bool grid = std::exchange(shows_grid_, false);
  return help || start_page || grid;
}

void MainWindow::handle_own_key(int key) {
  Capture& capture = parts_.capture;
  switch (key) {
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
    case Screen::f11:
      return parts_.screen.toggle_fullscreen();
    case ' ':
      return capture.play(!capture.state().is_playing());
    case 'C':
      return use(Tool::compare);
    case 'G':
      return use(Tool::grid);
    case 'M':
      return capture.mirror();
    case 'R':
      return capture.rotate();
    case 'H':
      return use(Tool::help);
    case 'T':
      return use(Tool::theme);
    default:
      return;
  }
}

void MainWindow::undo() {
  std::optional<LiveSettings> before = settings_history_.undo();
  if (!before) return parts_.toasts.say("there is no change to undo");
  keep_what_is_shown(*before, choices_.settings);
  const std::string now = different_settings(*before, choices_.settings);
  parts_.toasts.say(before->cascades.empty() ? "undone, now: no cascade"
                    : now.empty()            ? "undone"
                                             : "undone, now: " + now);
  choices_.settings = std::move(*before);
  parts_.detection.set(choices_.settings);
}

void MainWindow::handle_own_ctrl_key(int key) {
  switch (key) {
    case '+':
    case '=':  // where a US keyboard has the plus
    case Screen::keypad_plus:
      ++choices_.font_size;
      return;
    case '-':
    case Screen::keypad_minus:
      --choices_.font_size;
      return;
    case 'S':
      return use(Tool::screenshot);
    case 'Z':
      return undo();
    case 'R':
      return use(Tool::record);
    case 'Q':
      return parts_.screen.close();
    default:
      return;
  }
}

}  // namespace facesat::app
