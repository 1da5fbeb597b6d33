#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include <fmt/format.h>
#include <imgui.h>

#include "app/live/gui/widgets.hpp"
#include "app/live/panels/view_parts.hpp"
#include "app/live/panels/window_parts.hpp"
#include "core/rules.hpp"

namespace facesat::app {
namespace {

std::string name_of(const Inspection& shown) {
  if (shown.filtered) return "the filtered image";
  if (shown.picture == Snapshot::gray) return "the grey image";
  return shown.is_frame() ? fmt::format("level {}", shown.level) : "the atlas";
}

bool has_value(const InspectedPicture& picture, std::uint32_t value) {
  // Every element of a single integral image is a value, whatever it is.
  if (picture.is_in_false_colours() && picture.shown.picture != Snapshot::depth &&
      picture.shown.is_frame())
    return true;
  return value != no_value;
}

void draw_reading(const PictureView& view, const Reading& reading) {
  const float padding = ImGui::GetFontSize() / 2, width = view.space().x - 4 * padding;
  if (width < 1) return;
  const auto extent = [width](const std::string& text) {
    return ImGui::CalcTextSize(text.c_str(), nullptr, false, width);
  };
  const ImVec2 value = extent(reading.value), meaning = extent(reading.meaning);
  const ImVec2 first{view.corner().x + padding,
                     view.corner().y + view.space().y - value.y - meaning.y - 3 * padding};
  ImDrawList& list = *ImGui::GetWindowDrawList();
  draw_ground(first, {first.x + std::max(value.x, meaning.x) + 2 * padding,
                      first.y + value.y + meaning.y + 2 * padding});
  const auto write = [&](const std::string& text, float y, ImGuiCol colour) {
    list.AddText(ImGui::GetFont(), ImGui::GetFontSize(), {first.x + padding, y},
                 ImGui::GetColorU32(colour), text.c_str(), nullptr, width);
  };
  write(reading.value, first.y + padding, ImGuiCol_Text);
  write(reading.meaning, first.y + padding + value.y, ImGuiCol_TextDisabled);
}

// A value that the scale names, and its place there, from 0 to 1.
struct Tick {
  double place;
  std::string label;
};

std::array<Tick, 3> ticks_of(const InspectedPicture& picture) {
  const Snapshot kind = *picture.shown.picture;
  if (picture.largest == 0)  // the levels of the atlas
    return {{{0, "0"}, {0.5, "half"}, {1, "the whole level"}}};
  const double middle = std::floor(picture.largest / (kind == Snapshot::depth ? 4 : 2));
  const auto label = [](double value) { return with_commas(static_cast<std::uint64_t>(value)); };
  return {{{0, "0"},
           {place_in_palette(middle, kind, picture.largest), label(middle)},
           {1, label(picture.largest)}}};
}

const char* title_of(Snapshot picture) {
  if (picture == Snapshot::depth) return "stages passed (square root)";
  return picture == Snapshot::sum ? "sum" : "sum of squares";
}

void draw_bar(ImDrawList& list, ImVec2 first, ImVec2 last) {
  constexpr int parts = 40;
  const auto colour = [](int i) {
    const Bgr c = palette(static_cast<double>(i) / parts);
    return IM_COL32(c.r, c.g, c.b, 255);
  };
  for (int i = 0; i < parts; ++i) {
    const auto x = [&](int part) {
      return first.x + (last.x - first.x) * static_cast<float>(part) / parts;
    };
    const ImU32 left = colour(i), right = colour(i + 1);
    list.AddRectFilledMultiColor({x(i), first.y}, {x(i + 1), last.y}, left, right, right, left);
  }
  list.AddRect(first, last, ImGui::GetColorU32(ImGuiCol_Text));
}

void explain_scale(Snapshot picture) {
  draw_tooltip(
      picture == Snapshot::depth
          ? "The colours of the picture: how many stages of the cascade the window around a pixel "
            "passes. One that passes all of them is found. Small numbers take more of the scale, "
            "because most windows pass few stages"
          : "The colours of the picture. The sum grows from the upper left corner to the lower "
            "right one, where it is that of all pixels of the level");
}

void draw_scale(const PictureView& view, const InspectedPicture& picture) {
  const float size = ImGui::GetFontSize(), padding = size / 2;
  const float width = std::min(16 * size, view.space().x - 4 * padding);
  if (width < 8 * size) return;  // the labels have no room
  const ImVec2 first{view.corner().x + padding, view.corner().y + padding};
  const ImVec2 last{first.x + width + 2 * padding, first.y + 3.5f * size + 2 * padding};
  const ImVec2 bar{first.x + padding, first.y + padding + 1.25f * size};
  ImDrawList& list = *ImGui::GetWindowDrawList();
  draw_ground(first, last);
  list.AddText({bar.x, first.y + padding}, ImGui::GetColorU32(ImGuiCol_Text),
               title_of(*picture.shown.picture));
  draw_bar(list, bar, {bar.x + width, bar.y + size});
  for (const Tick& tick : ticks_of(picture)) {
    const float x = bar.x + width * static_cast<float>(tick.place);
    const float text = ImGui::CalcTextSize(tick.label.c_str()).x;
    const float begin = std::clamp(x - text / 2, bar.x, bar.x + width - text);
    list.AddLine({x, bar.y + size}, {x, bar.y + 1.25f * size}, ImGui::GetColorU32(ImGuiCol_Text));
    list.AddText({begin, bar.y + 1.25f * size}, ImGui::GetColorU32(ImGuiCol_Text),
                 tick.label.c_str());
  }
  if (ImGui::IsWindowHovered() && ImGui::IsMouseHoveringRect(first, last))
    explain_scale(*picture.shown.picture);
}

}  // namespace

void draw_ground(ImVec2 first, ImVec2 last) {
  ImGui::GetWindowDrawList()->AddRectFilled(
      first, last, ImGui::GetColorU32(ImGuiCol_PopupBg, 0.92f), ImGui::GetStyle().ChildRounding);
}

std::string with_commas(std::uint64_t number) {
  if (number < 1000) return std::to_string(number);
  return fmt::format("{},{:03}", with_commas(number / 1000), number % 1000);
}

Reading reading_of(View<const Bgr> frame, int x, int y) {
  const Bgr pixel = frame.row(y)[x];
  return {fmt::format("pixel ({}, {}) of the frame: grey {}", x, y,
                      rules::gray_of(pixel.b, pixel.g, pixel.r)),
          fmt::format("mixed from red {}, green {} and blue {}", pixel.r, pixel.g, pixel.b)};
}

Reading reading_of(const InspectedPicture& picture, double x, double y) {
  const Size size = picture.values.size();
  const int column = std::clamp(static_cast<int>(x * size.width), 0, size.width - 1);
  const int row = std::clamp(static_cast<int>(y * size.height), 0, size.height - 1);
  const std::uint32_t value = picture.values.row(row)[column];
  const std::string place =
      fmt::format("pixel ({}, {}) of {}", column, row, name_of(picture.shown));
  const bool is_depth = picture.shown.picture == Snapshot::depth;
  if (!has_value(picture, value))
    return {place, is_depth ? "no window has its centre here" : "between the levels"};
  switch (*picture.shown.picture) {
    case Snapshot::gray:
    case Snapshot::level:
      return {fmt::format("{}: grey {}", place, value), "0 is black, 255 is white"};
    case Snapshot::sum:
      return {fmt::format("{}: sum {}", place, with_commas(value)),
              "of all pixels above and to the left, this one included"};
    case Snapshot::squared_sum:
      return {fmt::format("{}: sum of squares {}", place, with_commas(value)),
              "of all pixels above and to the left, this one included, modulo 2^32"};
    case Snapshot::tilted_sum:
      return {fmt::format("{}: sum {}", place, with_commas(value)),
              "of all pixels in a cone that widens upwards from this one"};
    case Snapshot::depth:
      return {fmt::format("{}: {} of {} stages passed", place, value, picture.largest),
              "by the window that has its centre here"};
  }
  return {place, ""};
}

void draw_readings(const PictureView& view, const LiveResult& result) {
  if (result.view && result.view->is_in_false_colours()) draw_scale(view, *result.view);
  const auto point = view.pointed();
  if (!point) return;
  constexpr float zoom_that_shows_pixels = 3;
  if (result.view)
    draw_reading(view, reading_of(*result.view, point->x / static_cast<float>(view.size().width),
                                  point->y / static_cast<float>(view.size().height)));
  else if (view.zoom() >= zoom_that_shows_pixels)
    draw_reading(view, reading_of(result.frame.picture.pixels, static_cast<int>(point->x),
                                  static_cast<int>(point->y)));
}

}  // namespace facesat::app
