#include "app/live/gui/chart.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace facesat::app {
namespace {

// The smallest of 1, 2 and 5 times a power of ten that is at least `value`, which is positive.
double rounded_up(double value) {
  const double power = std::pow(10, std::floor(std::log10(value)));
  for (const double digit : {1, 2, 5})
    if (digit * power >= value) return digit * power;
  return 10 * power;
}

// The rectangle of the columns, without the numbers of the axis.
struct Plot {
  ImVec2 corner, end;  // upper left, lower right
  double top = 1;      // of the axis
  float column = 1;    // width of a slot

  float y_of(double value) const {
    return end.y - (end.y - corner.y) * static_cast<float>(std::min(value / top, 1.0));
  }
  // The left side of a column, of `count`.
  float x_of(std::size_t index, std::size_t count) const {
    return end.x - column * static_cast<float>(count - index);
  }
};

std::size_t count_columns(const Chart& chart) {
  return chart.values.size() / chart.colours.size();
}

// Half the width of a triangle that marks a column.
float triangle_side() {
  return ImGui::GetFontSize() * 0.3f;
}

// Numbers to the left of the plot, and a line from each of them. Returns the plot, which has a
// margin for the triangles of its last column.
Plot draw_axis(const Chart& chart, ImVec2 corner, ImVec2 end) {
  std::vector<std::string> labels;
  float widest = 0;
  const std::vector<double> ticks = axis_ticks(chart.top);
  for (const double tick : ticks) {
    labels.push_back(fmt::format("{:g}", tick));
    widest = std::max(widest, ImGui::CalcTextSize(labels.back().c_str()).x);
  }
  const float line = ImGui::GetTextLineHeight();
  Plot plot{{corner.x + widest + line / 3, corner.y + line / 2},
            {end.x - triangle_side(), end.y - line / 2},
            chart.top,
            1};
  plot.column = (plot.end.x - plot.corner.x) / static_cast<float>(chart.slots);
  ImDrawList* const list = ImGui::GetWindowDrawList();
  list->AddRectFilled(plot.corner, plot.end, ImGui::GetColorU32(ImGuiCol_FrameBg, 0.5f));
  for (std::size_t i = 0; i < ticks.size(); ++i) {
    const float y = plot.y_of(ticks[i]);
    const float x = corner.x + widest - ImGui::CalcTextSize(labels[i].c_str()).x;
    list->AddText({x, y - line / 2}, ImGui::GetColorU32(ImGuiCol_TextDisabled), labels[i].c_str());
    list->AddLine({plot.corner.x, y}, {plot.end.x, y}, ImGui::GetColorU32(ImGuiCol_Border));
  }
  return plot;
}

// A small triangle that points up, with its tip at `tip`.
void draw_triangle(ImVec2 tip, ImU32 colour) {
  const float side = triangle_side();
  ImGui::GetWindowDrawList()->AddTriangleFilled(tip, {tip.x + side, tip.y + side * 1.2f},
                                                {tip.x - side, tip.y + side * 1.2f}, colour);
}

void draw_columns(const Chart& chart, const Plot& plot) {
  ImDrawList* const list = ImGui::GetWindowDrawList();
  const std::size_t series = chart.colours.size(), count = count_columns(chart);
  const float gap = plot.column >= 4 ? 1 : 0;
  constexpr float least_visible = 0.2f;  // pixels: most steps on a GPU are shorter
  for (std::size_t i = 0; i < count; ++i) {
    const float left = plot.x_of(i, count);
    const float right = left + std::max(plot.column - gap, 1.0f);  // no column may be invisible
    double sum = 0;
    for (std::size_t s = 0; s < series; ++s) {
      const double value = chart.values[i * series + s];
      if (value <= 0 || sum >= chart.top) continue;
      const float bottom = plot.y_of(sum), top = plot.y_of(sum += value);
      if (bottom - top < least_visible) continue;
      list->AddRectFilled({left, top}, {right, bottom}, chart.colours[s]);
    }
    if (sum > chart.top)
      draw_triangle({(left + right) / 2, plot.corner.y - ImGui::GetFontSize() * 0.4f},
                    ImGui::GetColorU32(ImGuiCol_Text));
  }
  for (const std::size_t i : chart.marked)
    draw_triangle({plot.x_of(i, count) + plot.column / 2, plot.end.y},
                  ImGui::GetColorU32(ImGuiCol_CheckMark));
}

void draw_dashes(const Plot& plot, float y, ImU32 colour) {
  const float dash = ImGui::GetFontSize() * 0.4f;
  for (float x = plot.corner.x; x < plot.end.x; x += 2 * dash)
    ImGui::GetWindowDrawList()->AddLine({x, y}, {std::min(x + dash, plot.end.x), y}, colour);
}

// From the top down. A label for which there is no room below the one before is left out.
void draw_lines(const Chart& chart, const Plot& plot) {
  std::vector<ChartLine> lines = chart.lines;
  std::sort(lines.begin(), lines.end(),
            [](const ChartLine& a, const ChartLine& b) { return a.value > b.value; });
  ImDrawList* const list = ImGui::GetWindowDrawList();
  const ImU32 colour = ImGui::GetColorU32(ImGuiCol_Text);
  const float pad = ImGui::GetFontSize() * 0.2f;
  float free = -std::numeric_limits<float>::max();  // where there is room, downwards
  for (const ChartLine& line : lines) {
    if (line.value > chart.top) continue;
    const float y = plot.y_of(line.value);
    draw_dashes(plot, y, colour);
    const ImVec2 size = ImGui::CalcTextSize(line.label.c_str());
    const ImVec2 corner{plot.corner.x + pad, y - size.y - 1};
    if (corner.y < free) continue;
    free = y;
    list->AddRectFilled({corner.x - pad, corner.y}, {corner.x + size.x + pad, y - 1},
                        ImGui::GetColorU32(ImGuiCol_WindowBg, 0.6f));
    list->AddText(corner, colour, line.label.c_str());
  }
}

void draw_selection(const ColumnRange& selected, const Plot& plot, std::size_t count) {
  const float last = plot.x_of(selected.last, count) + std::max(plot.column, 1.0f);
  ImGui::GetWindowDrawList()->AddRectFilled({plot.x_of(selected.first, count), plot.corner.y},
                                            {last, plot.end.y},
                                            ImGui::GetColorU32(ImGuiCol_TextSelectedBg));
}

std::optional<std::size_t> column_at(float x, const Plot& plot, std::size_t count) {
  if (x < plot.corner.x || x >= plot.end.x) return std::nullopt;
  const auto from_right = static_cast<std::size_t>((plot.end.x - x) / plot.column);
  return from_right < count ? std::optional(count - 1 - from_right) : std::nullopt;
}

}  // namespace

double percentile_99(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto nth = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) * 99 / 100);
  std::nth_element(values.begin(), nth, values.end());
  return *nth;
}

double axis_top(double value, double previous) {
  constexpr double clearly_smaller = 0.8;
  if (value <= 0) return previous > 0 ? previous : 1;
  const double top = rounded_up(value);
  return previous > top && rounded_up(value / clearly_smaller) >= previous ? previous : top;
}

std::vector<double> axis_ticks(double top) {
  const double first_digit = std::round(top / std::pow(10, std::floor(std::log10(top))));
  const int intervals = first_digit == 2 ? 4 : 5;
  std::vector<double> ticks;
  for (int i = 0; i <= intervals; ++i) ticks.push_back(top * i / intervals);
  return ticks;
}

namespace {

// What the pointer, whose button is down, has been dragged over; nullopt: it has not moved yet.
std::optional<ColumnRange> dragged_over(const Plot& plot, std::size_t count) {
  const ImGuiIO& io = ImGui::GetIO();
  const float least = io.MouseDragThreshold;
  if (count == 0 || io.MouseDragMaxDistanceSqr[0] < least * least) return std::nullopt;
  const auto nearest = [&](float x) {
    const float first = plot.x_of(0, count), last = plot.x_of(count - 1, count);
    return column_at(std::clamp(x, first, last) + plot.column / 2, plot, count).value_or(count - 1);
  };
  const auto [first, last] = std::minmax({nearest(io.MouseClickedPos[0].x - plot.column / 2),
                                          nearest(io.MousePos.x - plot.column / 2)});
  return ColumnRange{first, last};
}

}  // namespace

ChartPointer draw_chart(const char* id, const Chart& chart, float height) {
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  const ImVec2 size{std::max(ImGui::GetContentRegionAvail().x, 10.0f), height};
  ChartPointer pointer;
  const bool is_clicked = ImGui::InvisibleButton(id, size);
  pointer.is_over_chart = ImGui::IsItemHovered();
  const Plot plot = draw_axis(chart, corner, {corner.x + size.x, corner.y + size.y});
  const std::size_t count = count_columns(chart);
  if (pointer.is_over_chart) pointer.column = column_at(ImGui::GetMousePos().x, plot, count);
  if (is_clicked || ImGui::IsItemActive()) pointer.dragged = dragged_over(plot, count);
  pointer.is_clicked = is_clicked && !pointer.dragged;
  if (chart.selected) draw_selection(*chart.selected, plot, count);
  draw_columns(chart, plot);
  draw_lines(chart, plot);
  if (pointer.column) {
    const float left = plot.x_of(*pointer.column, count);
    ImGui::GetWindowDrawList()->AddRect({left - 1, plot.corner.y},
                                        {left + std::max(plot.column, 1.0f) + 1, plot.end.y},
                                        ImGui::GetColorU32(ImGuiCol_Text));
  }
  return pointer;
}

}  // namespace facesat::app
