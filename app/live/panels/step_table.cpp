#include "app/live/panels/step_table.hpp"

#include <array>
#include <string>

#include <fmt/format.h>

#include "app/live/gui/widgets.hpp"

namespace facesat::app {
namespace {

constexpr std::array<Column, 5> columns{{
    {"step",
     "What happens to a frame, in this order. A click on a step leaves it out of the chart"},
    {"ms", "Milliseconds: the median of the samples that the chart shows"},
    {"share", "The part of the steps that are shown"},
    {"GB/s", "The bytes that the step must at least read and write, by its time"},
    {"x floor",
     "How many times as long as its floor the step takes. The floor is the time that this machine "
     "takes to copy as many bytes as the step must at least read and write; 1.0 is as fast as a "
     "copy. Evaluation reads them many times over"},
}};

constexpr std::array<const char*, live_step_count> step_meanings{
    "Reading the frame from its source",
    "The frame's way into the GPU's memory",
    "Grey image from the colours",
    "All levels of the pyramid from the grey image",
    "Integral images (summed area tables) of the levels and of their squares",
    "The cascade at every window",
    "The windows' way back to the host",
    "Similar windows become faces",
    "Drawing this window, without waiting for the screen",
};
constexpr const char* filter_step_meaning = "A step of the filter whose result is shown";

double sum_of_shown(const StepRows& rows, const HiddenSteps& hidden) {
  double sum = 0;
  for (const StepRow& row : rows)
    if (!hidden.contains(row.name)) sum += row.median.ms;
  return sum;
}

// Fills a table cell with a number, or leaves it empty if there is none.
void draw_number(const char* format, double number, bool is_there) {
  ImGui::TableNextColumn();
  if (is_there) ImGui::Text(format, number);
}

// Cuts off the end of a text that is wider than `width`.
std::string shortened(std::string text, float width) {
  if (ImGui::CalcTextSize(text.c_str()).x <= width) return text;
  while (!text.empty() && ImGui::CalcTextSize((text + "...").c_str()).x > width) text.pop_back();
  return text + "...";
}

// The step's swatch and name; both can be clicked. width: the most that they may take.
void draw_name(const StepRow& row, HiddenSteps& hidden, float width) {
  const bool is_hidden = hidden.contains(row.name);
  const float left = ImGui::GetCursorPosX();
  const bool is_clicked = ImGui::Selectable(("##" + row.name).c_str());
  tooltip(fmt::format("{}{}. Click to {}", row.step < live_step_count ? "" : row.name + "\n",
                      row.step < live_step_count ? step_meanings[row.step] : filter_step_meaning,
                      is_hidden ? "show it in the chart again" : "leave it out of the chart"));
  ImGui::SameLine();
  ImGui::SetCursorPosX(left);
  draw_swatch(step_colour(row.step), !is_hidden);
  const std::string name = shortened(row.name, left + width - ImGui::GetCursorPosX());
  ImGui::TextColored(ImGui::GetStyleColorVec4(is_hidden ? ImGuiCol_TextDisabled : ImGuiCol_Text),
                     "%s", name.c_str());
  if (!is_clicked) return;
  if (is_hidden)
    hidden.erase(row.name);
  else
    hidden.insert(row.name);
}

}  // namespace

ImU32 step_colour(std::size_t step) {
  constexpr std::array<ImU32, live_step_count> colours{
      IM_COL32(120, 120, 130, 255), IM_COL32(160, 110, 60, 255),  IM_COL32(86, 180, 233, 255),
      IM_COL32(0, 158, 115, 255),   IM_COL32(240, 228, 66, 255),  IM_COL32(213, 94, 0, 255),
      IM_COL32(0, 114, 178, 255),   IM_COL32(204, 121, 167, 255), IM_COL32(170, 170, 180, 255),
  };
  constexpr std::array<ImU32, 4> filter_colours{
      IM_COL32(150, 95, 225, 255), IM_COL32(205, 170, 250, 255), IM_COL32(110, 60, 170, 255),
      IM_COL32(178, 132, 238, 255)};
  return step < live_step_count ? colours[step]
                                : filter_colours[(step - live_step_count) % filter_colours.size()];
}

StepRows step_rows(const History& history) {
  StepRows rows;
  for (const std::size_t step : history.steps())
    rows.push_back({step, history.step_name(step), history.step(step)});
  return rows;
}

void draw_step_bar(const StepRows& rows, const HiddenSteps& hidden) {
  const double whole = sum_of_shown(rows, hidden);
  ImVec2 corner = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, height = ImGui::GetTextLineHeight() * 1.5f;
  ImGui::Dummy({width, height});
  tooltip("The steps side by side, as long as their medians, in the colours of the table below");
  for (const StepRow& row : rows) {
    if (whole <= 0 || hidden.contains(row.name)) continue;
    const float part = width * static_cast<float>(row.median.ms / whole);
    ImGui::GetWindowDrawList()->AddRectFilled(corner, {corner.x + part, corner.y + height},
                                              step_colour(row.step));
    corner.x += part;
  }
}

void draw_step_table(const StepRows& rows, HiddenSteps& hidden) {
  const float widest_name = 0.45f * ImGui::GetContentRegionAvail().x;
  if (!ImGui::BeginTable("steps", columns.size(), ImGuiTableFlags_RowBg)) return;
  for (const Column& column : columns)
    ImGui::TableSetupColumn(column.title, &column == columns.data()
                                              ? ImGuiTableColumnFlags_WidthFixed
                                              : ImGuiTableColumnFlags_WidthStretch);
  draw_column_titles(columns);
  const double whole = sum_of_shown(rows, hidden);
  for (const StepRow& row : rows) {
    const History::StepSummary& median = row.median;
    ImGui::TableNextColumn();
    draw_name(row, hidden, widest_name);
    draw_number(median.ms < 100 ? "%.3f" : "%.1f", median.ms, true);
    draw_number("%.0f %%", median.ms / whole * 100, whole > 0 && !hidden.contains(row.name));
    draw_number("%.1f", median.bytes_per_s / 1e9, median.bytes_per_s > 0);
    draw_number(median.floors < 100 ? "%.1f" : "%.0f", median.floors, median.floors > 0);
  }
  ImGui::EndTable();
}

}  // namespace facesat::app
