#include "app/live/panels/step_table.hpp"

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

double sum_of_shown(const StepSummaries& steps, const HiddenSteps& hidden) {
  double sum = 0;
  for (std::size_t step = 0; step < live_step_count; ++step)
    if (!hidden[step]) sum += steps[step].ms;
  return sum;
}

// Fills a table cell with a number, or leaves it empty if there is none.
void draw_number(const char* format, double number, bool is_there) {
  ImGui::TableNextColumn();
  if (is_there) ImGui::Text(format, number);
}

// The step's swatch and name; both can be clicked.
void draw_name(std::size_t step, HiddenSteps& hidden) {
  const std::string name(live_step_name(step));
  const float left = ImGui::GetCursorPosX();
  const bool is_clicked = ImGui::Selectable(("##" + name).c_str());
  tooltip(fmt::format("{}. Click to {}", step_meanings[step],
                      hidden[step] ? "show it in the chart again" : "leave it out of the chart"));
  ImGui::SameLine();
  ImGui::SetCursorPosX(left);
  draw_swatch(step_colour(step), !hidden[step]);
  ImGui::TextColored(ImGui::GetStyleColorVec4(hidden[step] ? ImGuiCol_TextDisabled : ImGuiCol_Text),
                     "%s", name.c_str());
  if (is_clicked) hidden.flip(step);
}

}  // namespace

ImU32 step_colour(std::size_t step) {
  constexpr std::array<ImU32, live_step_count> colours{
      IM_COL32(120, 120, 130, 255), IM_COL32(160, 110, 60, 255),  IM_COL32(86, 180, 233, 255),
      IM_COL32(0, 158, 115, 255),   IM_COL32(240, 228, 66, 255),  IM_COL32(213, 94, 0, 255),
      IM_COL32(0, 114, 178, 255),   IM_COL32(204, 121, 167, 255), IM_COL32(170, 170, 180, 255),
  };
  return colours[step];
}

void draw_step_bar(const StepSummaries& steps, const HiddenSteps& hidden) {
  const double whole = sum_of_shown(steps, hidden);
  ImVec2 corner = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, height = ImGui::GetTextLineHeight() * 1.5f;
  ImGui::Dummy({width, height});
  tooltip("The steps side by side, as long as their medians, in the colours of the table below");
  for (std::size_t step = 0; step < live_step_count && whole > 0; ++step) {
    if (hidden[step]) continue;
    const float part = width * static_cast<float>(steps[step].ms / whole);
    ImGui::GetWindowDrawList()->AddRectFilled(corner, {corner.x + part, corner.y + height},
                                              step_colour(step));
    corner.x += part;
  }
}

void draw_step_table(const StepSummaries& steps, HiddenSteps& hidden) {
  if (!ImGui::BeginTable("steps", columns.size(), ImGuiTableFlags_RowBg)) return;
  for (const Column& column : columns)
    ImGui::TableSetupColumn(column.title, &column == columns.data()
                                              ? ImGuiTableColumnFlags_WidthFixed
                                              : ImGuiTableColumnFlags_WidthStretch);
  draw_column_titles(columns);
  const double whole = sum_of_shown(steps, hidden);
  for (std::size_t step = 0; step < live_step_count; ++step) {
    const History::StepSummary& median = steps[step];
    ImGui::TableNextColumn();
    draw_name(step, hidden);
    draw_number(median.ms < 100 ? "%.3f" : "%.1f", median.ms, true);
    draw_number("%.0f %%", median.ms / whole * 100, whole > 0 && !hidden[step]);
    draw_number("%.1f", median.bytes_per_s / 1e9, median.bytes_per_s > 0);
    draw_number(median.floors < 100 ? "%.1f" : "%.0f", median.floors, median.floors > 0);
  }
  ImGui::EndTable();
}

}  // namespace facesat::app
