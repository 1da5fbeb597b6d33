#include <array>
#include <numeric>

#include <fmt/format.h>
#include <imgui.h>

#include "app/live/panels.hpp"
#include "app/live/widgets.hpp"

namespace facesat::app {
namespace {

ImU32 step_colour(std::size_t step) {
  constexpr std::array<ImU32, live_step_count> colours{
      IM_COL32(120, 120, 130, 255), IM_COL32(160, 110, 60, 255),  IM_COL32(86, 180, 233, 255),
      IM_COL32(0, 158, 115, 255),   IM_COL32(240, 228, 66, 255),  IM_COL32(213, 94, 0, 255),
      IM_COL32(0, 114, 178, 255),   IM_COL32(204, 121, 167, 255), IM_COL32(170, 170, 180, 255),
  };
  return colours[step];
}

// The medians of all steps.
using Summary = std::array<History::StepSummary, live_step_count>;

double sum_of(const Summary& summary) {
  return std::accumulate(
      summary.begin(), summary.end(), 0.0,
      [](double sum, const History::StepSummary& step) { return sum + step.ms; });
}

// The steps from left to right, as long as their medians.
void draw_bar(const Summary& summary) {
  const double whole = sum_of(summary);
  ImVec2 corner = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, height = ImGui::GetTextLineHeight() * 1.5f;
  if (whole <= 0 || width < 10) return;
  for (std::size_t step = 0; step < live_step_count; ++step) {
    const float part = width * static_cast<float>(summary[step].ms / whole);
    ImGui::GetWindowDrawList()->AddRectFilled(corner, {corner.x + part, corner.y + height},
                                              step_colour(step));
    corner.x += part;
  }
  ImGui::Dummy({width, height});
}

// One column per frame, the oldest on the left; steps are stacked.
void draw_history(const History& history) {
  const auto& samples = history.samples();
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, height = ImGui::GetTextLineHeight() * 6;
  if (width < 10) return;
  double highest = 0;
  for (const Sample& sample : samples)
    highest = std::max(highest, std::accumulate(sample.ms.begin(), sample.ms.end(), 0.0));
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->AddRectFilled(corner, {corner.x + width, corner.y + height}, IM_COL32(128, 128, 128, 40));
  const float column = width / static_cast<float>(History::most);
  for (std::size_t i = 0; i < samples.size() && highest > 0; ++i) {
    const float left = corner.x + column * static_cast<float>(History::most - samples.size() + i);
    float bottom = corner.y + height;
    for (std::size_t step = 0; step < live_step_count; ++step) {
      const float top = bottom - height * static_cast<float>(samples[i].ms[step] / highest);
      list->AddRectFilled({left, top}, {left + std::max(column, 1.0f), bottom}, step_colour(step));
      bottom = top;
    }
  }
  list->AddText(corner, ImGui::GetColorU32(ImGuiCol_Text),
                fmt::format("{:.2f} ms", highest).c_str());
  ImGui::Dummy({width, height});
}

// Fills a table cell with a number, or leaves it empty if there is none.
void draw_number(const char* format, double number, bool is_there) {
  ImGui::TableNextColumn();
  if (is_there) ImGui::Text(format, number);
}

// A swatch of the step's colour, in front of its name.
void draw_swatch(std::size_t step) {
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  const float side = ImGui::GetTextLineHeight() * 0.7f;
  const float top = corner.y + ImGui::GetTextLineHeight() * 0.15f;
  ImGui::GetWindowDrawList()->AddRectFilled({corner.x, top}, {corner.x + side, top + side},
                                            step_colour(step));
  ImGui::Dummy({side, side});
  ImGui::SameLine();
}

struct Column {
  const char *title, *meaning;
};
constexpr std::array<Column, 4> columns{{
    {"ms", "The median of the samples that the chart shows"},
    {"share", "The part of the whole"},
    {"GB/s", "The bytes that the step must at least read and write, by its time"},
    {"of floor",
     "The floor is the time that this machine takes to copy as many bytes as the step must at "
     "least "
     "read and write; 100 % is as fast as a copy. Evaluation reads them many times over"},
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

void draw_table(const Summary& summary) {
  if (!ImGui::BeginTable("steps", 5, ImGuiTableFlags_RowBg)) return;
  ImGui::TableSetupColumn("step", ImGuiTableColumnFlags_WidthStretch, 1.4f);
  for (const Column& column : columns)
    ImGui::TableSetupColumn(column.title, ImGuiTableColumnFlags_WidthStretch, 1);
  ImGui::TableNextRow(ImGuiTableRowFlags_Headers);
  ImGui::TableNextColumn();
  ImGui::TableHeader("step");
  for (const Column& column : columns) {
    ImGui::TableNextColumn();
    ImGui::TableHeader(column.title);
    tooltip(column.meaning);
  }
  const double whole = sum_of(summary);
  for (std::size_t step = 0; step < live_step_count; ++step) {
    const History::StepSummary& median = summary[step];
    ImGui::TableNextColumn();
    draw_swatch(step);
    ImGui::TextUnformatted(live_step_name(step).data());
    tooltip(step_meanings[step]);
    draw_number("%.3f", median.ms, true);
    draw_number("%.0f %%", median.ms / whole * 100, whole > 0);
    draw_number("%.1f", median.bytes_per_s / 1e9, median.bytes_per_s > 0);
    draw_number("%.0f %%", median.of_floor * 100, median.of_floor > 0);
  }
  ImGui::EndTable();
}

}  // namespace

void draw_times(const History& history, std::uint64_t dropped, bool is_still) {
  Summary summary{};
  for (std::size_t step = 0; step < live_step_count; ++step) summary[step] = history.step(step);
  const double median = history.detect_quantile(0.5);
  if (is_still) {
    ImGui::Text("detection %.2f ms, median of %zu", median, history.samples().size());
    tooltip("A still picture is measured thirty times, if that takes no longer than a second");
    ImGui::Text("90 %% between %.2f and %.2f ms", history.detect_quantile(0.05),
                history.detect_quantile(0.95));
  } else {
    ImGui::Text("%.1f frames/s, detection %.2f ms", history.frames_per_second(), median);
    tooltip("Frames shown in the last second; the median time from frame to faces");
    ImGui::Text("latency p50 %.1f  p95 %.1f  p99 %.1f ms", history.latency_quantile(0.5),
                history.latency_quantile(0.95), history.latency_quantile(0.99));
  }
  if (!is_still)
    tooltip(
        "From the camera or file to the screen, of new frames: median, 95th and 99th percentile");
  ImGui::Text("frames replaced by newer ones: %llu", static_cast<unsigned long long>(dropped));
  tooltip("Detection always takes the newest frame; these came too fast for it");
  draw_bar(summary);
  draw_history(history);
  draw_table(summary);
}

}  // namespace facesat::app
