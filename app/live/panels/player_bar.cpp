#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include <fmt/format.h>
#include <imgui.h>

#include "app/live/gui/widgets.hpp"
#include "app/live/panels/window_parts.hpp"

namespace facesat::app {
namespace {

enum class Icon {
  previous,
  back,
  play,
  pause,
  forward,
  next,
  camera,
  disc,
  square,
  theme,
  question,
  compare,
  grid,
};

// Draws shapes into a square. Positions are fractions of its side, from its upper left corner.
class Pen {
 public:
  Pen(ImVec2 corner, float side)
      : list_(*ImGui::GetWindowDrawList()),
        corner_(corner),
        side_(side),
        colour_(ImGui::GetColorU32(ImGuiCol_Text)) {}

  void bar(float left, float right) const {
    list_.AddRectFilled(at(left, 0.28f), at(right, 0.72f), colour_);
  }
  void disc(float radius, ImU32 colour) const {
    list_.AddCircleFilled(at(0.5f, 0.5f), radius * side_, colour);
  }
  void ring(float radius) const { list_.AddCircle(at(0.5f, 0.5f), radius * side_, colour_); }
  void left_half_of_disc(float radius) const {
    list_.PathArcTo(at(0.5f, 0.5f), radius * side_, 1.5708f, 4.7124f);
    list_.PathFillConvex(colour_);
  }
  void frame(float left, float top, float right, float bottom) const {
    list_.AddRect(at(left, top), at(right, bottom), colour_, side_ / 16);
  }
  void letter(const char* text) const {
    const ImVec2 extent = ImGui::CalcTextSize(text), middle = at(0.5f, 0.5f);
    list_.AddText({middle.x - extent.x / 2, middle.y - extent.y / 2}, colour_, text);
  }
  // A triangle whose tip points to the side where `tip` is.
  void triangle(float base, float tip) const {
    list_.AddTriangleFilled(at(base, 0.26f), at(base, 0.74f), at(tip, 0.5f), colour_);
  }

 private:
  ImVec2 at(float x, float y) const { return {corner_.x + x * side_, corner_.y + y * side_}; }

  ImDrawList& list_;
  ImVec2 corner_;
  float side_;
  ImU32 colour_;
};

void draw(Icon icon, const Pen& pen) {
  switch (icon) {
    case Icon::previous:
      pen.bar(0.24f, 0.31f);
      return pen.triangle(0.74f, 0.34f);
    case Icon::back:
      pen.triangle(0.58f, 0.24f);
      return pen.bar(0.66f, 0.74f);
    case Icon::play:
      return pen.triangle(0.32f, 0.76f);
    case Icon::pause:
      pen.bar(0.31f, 0.44f);
      return pen.bar(0.56f, 0.69f);
    case Icon::forward:
      pen.bar(0.26f, 0.34f);
      return pen.triangle(0.42f, 0.76f);
    case Icon::next:
      pen.triangle(0.26f, 0.66f);
      return pen.bar(0.69f, 0.76f);
    case Icon::camera:
      pen.frame(0.4f, 0.24f, 0.6f, 0.32f);
      pen.frame(0.22f, 0.32f, 0.78f, 0.74f);
      return pen.ring(0.12f);
    case Icon::disc:
      return pen.disc(0.2f, IM_COL32(220, 60, 60, 255));
    case Icon::square:
      return pen.bar(0.3f, 0.7f);
    case Icon::theme:
      pen.ring(0.22f);
      return pen.left_half_of_disc(0.22f);
    case Icon::question:
      return pen.letter("?");
    case Icon::compare:
      pen.frame(0.22f, 0.28f, 0.78f, 0.72f);
      return pen.bar(0.22f, 0.5f);
    case Icon::grid:
      for (const float x : {0.24f, 0.54f})
        for (const float y : {0.24f, 0.54f}) pen.frame(x, y, x + 0.22f, y + 0.22f);
      return;
  }
}

// A square button; returns true when it is pressed. `id`: as for every control of Dear ImGui.
bool icon_button(const char* id, Icon icon, bool enabled = true) {
  const float side = ImGui::GetFrameHeight();
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  ImGui::BeginDisabled(!enabled);
  const bool pressed = ImGui::Button(id, {side, side});
  draw(icon, Pen(corner, side));
  ImGui::EndDisabled();
  return pressed;
}

using Kind = FrameSource::Kind;

bool is_list_of_pictures(const Capture::State& state) {
  return state.kind == Kind::picture && state.count > 1;
}

bool has_pace(const Capture::State& state) {
  return state.kind == Kind::video || is_list_of_pictures(state);
}

bool has_positions(const Capture::State& state) {
  return is_list_of_pictures(state) || (state.kind == Kind::video && state.length > 0);
}

// Over the slider drawn last, along its lower edge.
void draw_marks(const FaceMarks& marks) {
  const auto& all = marks.marks();
  if (all.empty()) return;
  const ImVec2 first = ImGui::GetItemRectMin(), last = ImGui::GetItemRectMax();
  const float height = std::max(2.0f, ImGui::GetFontSize() / 5);
  const float width = (last.x - first.x) / static_cast<float>(all.size());
  constexpr ImU32 faces = IM_COL32(60, 200, 90, 255), none = IM_COL32(128, 128, 128, 120);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  for (std::size_t i = 0; i < all.size();) {  // neighbours of one kind in one rectangle
    std::size_t end = i + 1;
    while (end < all.size() && all[end] == all[i]) ++end;
    if (all[i] != FaceMarks::Mark::unknown) {
      const float left = first.x + width * static_cast<float>(i);
      const float right = std::max(left + 1, first.x + width * static_cast<float>(end));
      list.AddRectFilled({left, last.y - height}, {right, last.y},
                         all[i] == FaceMarks::Mark::faces ? faces : none);
    }
    i = end;
  }
}

// The slider for the position in a video or list of pictures.
void draw_position(Capture& capture, const Capture::State& state, const FaceMarks& marks) {
  ImGui::SetNextItemWidth(-1);       // all the width, because a label after ## is not shown
  if (is_list_of_pictures(state)) {  // counted from 1, as people do
    int number = static_cast<int>(state.entry) + 1;
    if (ImGui::SliderInt("##position", &number, 1, static_cast<int>(state.count),
                         fmt::format("%d of {}", state.count).c_str(),
                         ImGuiSliderFlags_AlwaysClamp))
      capture.show(static_cast<std::size_t>(number - 1));
    draw_marks(marks);
    tooltip("The pictures of the list; green where faces were found. Ctrl+click to type a number");
  } else {
    auto position = static_cast<float>(state.position);
    const auto last = static_cast<float>(std::max(0.0, state.length - state.step));
    if (ImGui::SliderFloat("##position", &position, 0, last, "%.2f s",
                           ImGuiSliderFlags_AlwaysClamp))
      capture.seek(position);
    draw_marks(marks);
    tooltip("The position in the video; green where faces were found. Ctrl+click to type seconds");
  }
}

void draw_buttons(Capture& capture, const Capture::State& state) {
  const bool is_list = state.count > 1, is_video = state.kind == Kind::video;
  const bool has_frames = is_video || is_list;  // in a list the buttons keep their places
  if (is_list) {
    if (icon_button("##previous", Icon::previous, state.entry > 0)) capture.skip(-1);
    tooltip("The picture or video before this one (Page Up)");
    ImGui::SameLine();
  }
  if (has_frames) {
    if (icon_button("##back", Icon::back, true)) capture.step(-1);
    tooltip(is_list ? "The frame or picture before this one (left arrow)"
                    : "The frame before this one (left arrow)");
    ImGui::SameLine();
  }
  const bool plays = state.is_playing() && state.is_playable();
  if (icon_button("##play", plays ? Icon::pause : Icon::play, state.is_playable()))
    capture.play(!plays);
  tooltip(plays     ? "Pause (Space)"
          : is_list ? "Play the list: videos to their end, pictures as a slide show (Space)"
                    : "Play (Space)");
  if (has_frames) {
    ImGui::SameLine();
    if (icon_button("##forward", Icon::forward, true)) capture.step(1);
    tooltip(is_list ? "The next frame or picture (right arrow)" : "The next frame (right arrow)");
  }
  if (is_list) {
    ImGui::SameLine();
    if (icon_button("##next", Icon::next, state.entry + 1 < state.count)) capture.skip(1);
    tooltip("The next picture or video (Page Down)");
  }
}

std::string position_text(const Capture::State& state) {
  std::string text;
  if (state.kind == Kind::video)
    text = fmt::format("{} / {}   frame {:.0f}", clock_time(state.position),
                       clock_time(state.length), std::round(state.position / state.step));
  if (state.count > 1 && !is_list_of_pictures(state))  // else the slider has this
    text += fmt::format("{}{} of {}:", text.empty() ? "" : "   ", state.entry + 1, state.count);
  if (state.mirrored) text += "  mirrored";
  // As it is seen: after mirroring.
  const int turns = state.mirrored ? (4 - state.quarter_turns) % 4 : state.quarter_turns;
  if (turns != 0) text += fmt::format("  rotated by {} degrees", 90 * turns);
  return text + (text.empty() ? "" : "  ") + state.title;
}

float buttons_width(const Capture::State& state) {
  const bool is_list = state.count > 1, is_video = state.kind == Kind::video;
  const int buttons = 1 + (is_list ? 2 : 0) + (is_list || is_video ? 2 : 0);
  return static_cast<float>(buttons) * (ImGui::GetFrameHeight() + ImGui::GetStyle().ItemSpacing.x);
}

float pace_width() {
  return ImGui::GetFontSize() * 6 + ImGui::CalcTextSize("loop").x + ImGui::GetFrameHeight() +
         4 * ImGui::GetStyle().ItemSpacing.x;
}

constexpr int tool_count = 6;

float tools_width() {
  return tool_count * (ImGui::GetFrameHeight() + ImGui::GetStyle().ItemSpacing.x);
}

std::optional<Tool> draw_tools(bool is_list, bool is_recording, bool compares) {
  struct Button {
    Tool tool;
    const char* id;
    Icon icon;
    const char* meaning;
  };
  const std::array<Button, tool_count> buttons{
      {{Tool::grid, "##grid", Icon::grid,
        "The pictures and videos of the list side by side; a frame says that faces were found (G)"},
       {Tool::compare, "##compare", Icon::compare,
        compares
            ? "Unpins the picture (C)"
            : "Pins this picture with its faces, and shows it at the left of a line, which can "
              "be moved; what changes from now on is seen at its right (C)"},
       {Tool::screenshot, "##screenshot", Icon::camera,
        "A screenshot of this window, as PNG, into the current folder (Ctrl+S)"},
       {Tool::record, "##record", is_recording ? Icon::square : Icon::disc,
        is_recording ? "Ends the recording (Ctrl+R)"
                     : "Records the frames with their boxes as a video, into the current folder "
                       "(Ctrl+R)"},
       {Tool::theme, "##theme", Icon::theme, "Light letters on a dark ground, or the reverse (T)"},
       {Tool::help, "##help", Icon::question, "The keys (H)"}}};
  std::optional<Tool> pressed;
  for (const Button& button : buttons) {
    if (button.tool != buttons.front().tool) ImGui::SameLine();
    const bool is_on = button.tool == Tool::compare && compares;
    if (is_on) ImGui::PushStyleColor(ImGuiCol_Button, ImGui::GetColorU32(ImGuiCol_ButtonActive));
    if (icon_button(button.id, button.icon, is_list || button.tool != Tool::grid))
      pressed = button.tool;
    if (is_on) ImGui::PopStyleColor();
    tooltip(button.meaning);
  }
  return pressed;
}

// In a narrow window, or with large letters, the name would have no room beside the pace.
bool has_pace_row(const Capture::State& state) {
  const float room_for_name = 12 * ImGui::GetFontSize();
  return has_pace(state) && ImGui::GetContentRegionAvail().x <
                                buttons_width(state) + room_for_name + pace_width() + tools_width();
}

// How fast a video plays, or how long each picture stays, and whether it all begins again.
void draw_pace(Capture& capture, const Capture::State& state) {
  const bool is_video = state.kind == Kind::video;
  bool loops = state.loops;
  ImGui::SetNextItemWidth(ImGui::GetFontSize() * 6);
  if (is_video) {
    auto speed = static_cast<float>(state.speed);
    if (ImGui::SliderFloat("##speed", &speed, 0.1f, 10, "speed %.2f", ImGuiSliderFlags_Logarithmic))
      capture.set_speed(speed);
    tooltip("1: as fast as the video was taken. Ctrl+click to type a number");
  } else {
    auto seconds = static_cast<float>(state.slide_seconds);
    if (ImGui::SliderFloat("##slides", &seconds, 0.5f, 60, "each %.1f s",
                           ImGuiSliderFlags_Logarithmic))
      capture.set_slide_seconds(seconds);
    tooltip("How long each picture is shown while the list plays. Ctrl+click to type seconds");
  }
  ImGui::SameLine();
  if (ImGui::Checkbox("loop", &loops)) capture.loop(loops);
  tooltip(state.count > 1 ? "Begin again at the end of the list" : "Begin again at the end");
}

}  // namespace

void FaceMarks::add(const Subject& subject, std::size_t index, bool has_faces) {
  if (subject != subject_) {
    subject_ = subject;
    marks_.assign(std::min(subject.count, most), Mark::unknown);
  }
  if (subject.count == 0) return;
  const std::size_t last = subject.count - 1;
  Mark& mark = marks_[std::min(index, last) * marks_.size() / subject.count];
  const bool is_shared = subject.count > marks_.size();
  if (has_faces)
    mark = Mark::faces;
  else if (!is_shared || mark == Mark::unknown)
    mark = Mark::none;
}

std::string clock_time(double seconds) {
  const auto hundredths = static_cast<long>(std::round(std::max(seconds, 0.0) * 100));
  const long minutes = hundredths / 6000, rest = hundredths % 6000;
  const std::string end = fmt::format("{:02}.{:02}", rest / 100, rest % 100);
  return minutes < 60 ? fmt::format("{}:{}", minutes, end)
                      : fmt::format("{}:{:02}:{}", minutes / 60, minutes % 60, end);
}

float player_bar_height(const Capture::State& state) {
  const int rows = 1 + (has_positions(state) ? 1 : 0) + (has_pace_row(state) ? 1 : 0);
  return static_cast<float>(rows) * ImGui::GetFrameHeightWithSpacing();
}

std::optional<Tool> draw_player_bar(Capture& capture, const Capture::State& state,
                                    const FaceMarks& marks, bool is_recording, bool compares) {
  if (has_positions(state)) draw_position(capture, state, marks);
  const bool is_pace_below = has_pace_row(state);
  draw_buttons(capture, state);
  ImGui::SameLine();
  const float pace = has_pace(state) && !is_pace_below ? pace_width() : 0;
  const float tools = tools_width();
  const float room = std::max(1.0f, ImGui::GetContentRegionAvail().x - pace - tools);
  ImGui::AlignTextToFramePadding();
  const std::string text = position_text(state);
  ImGui::TextUnformatted(shortened(text, room).c_str());
  tooltip(text);
  const float end = ImGui::GetWindowContentRegionMax().x;
  if (pace > 0) {
    ImGui::SameLine(end - pace - tools);
    draw_pace(capture, state);
  }
  std::optional<Tool> tool;
  if (end - tools > buttons_width(state)) {  // else there are the keys
    ImGui::SameLine(end - tools + ImGui::GetStyle().ItemSpacing.x);
    tool = draw_tools(state.count > 1, is_recording, compares);
  }
  if (is_pace_below) draw_pace(capture, state);
  return tool;
}

}  // namespace facesat::app
