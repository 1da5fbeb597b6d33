#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <imgui.h>

#include "app/live/gui/chart.hpp"
#include "app/live/gui/widgets.hpp"
#include "app/live/panels/panels.hpp"

namespace facesat::app {
namespace {

void draw_rates(const History& history, std::uint64_t dropped) {
  ImGui::TextWrapped("%.1f frames/s, detection p50 %.2f ms", history.frames_per_second(),
                     history.detect_quantile(0.5));
  tooltip(
      "Frames shown in the last second; the median time from frame to faces. It is longer than the "
      "steps from upload to group together: the first frame prepares for its size, too");
  ImGui::TextWrapped("latency p50 %.1f  p95 %.1f  p99 %.1f ms", history.latency_quantile(0.5),
                     history.latency_quantile(0.95), history.latency_quantile(0.99));
  tooltip("From the camera or file to the screen, of new frames: median, 95th and 99th percentile");
  ImGui::TextWrapped("frames replaced by newer ones: %llu",
                     static_cast<unsigned long long>(dropped));
  tooltip("Detection always takes the newest frame; these came too fast for it");
}

void draw_spread(const History& history) {
  ImGui::TextWrapped("detection %.2f ms, median of %zu", history.detect_quantile(0.5),
                     history.samples().size());
  tooltip("A still picture is measured thirty times, if that takes no longer than a second");
  constexpr std::size_t enough = 20;  // for one in twenty
  if (history.samples().size() < enough) return;
  ImGui::TextWrapped("90 %% between %.2f and %.2f ms", history.detect_quantile(0.05),
                     history.detect_quantile(0.95));
  tooltip("One measurement in twenty was faster than this, and one in twenty slower");
}

// From the bottom of a column of the chart to its top.
double sum_of_shown(const Sample& sample, const StepRows& rows, const HiddenSteps& hidden) {
  double sum = 0;
  for (const StepRow& row : rows)
    if (!hidden.contains(row.name)) sum += sample.step_ms(row.step);
  return sum;
}

// The frame that is shown is that of the newest sample. A video may have been at it before.
bool is_of_shown_frame(const Sample& sample, const History& history) {
  return sample.position && !history.samples().empty() &&
         sample.position == history.samples().back().position;
}

// One column per sample, the newest on the right. `history` has the newest of all samples.
Chart make_chart(const std::deque<Sample>& samples, const StepRows& rows, const HiddenSteps& hidden,
                 const History& history, double top) {
  Chart chart;
  for (const StepRow& row : rows) chart.colours.push_back(step_colour(row.step));
  std::vector<double> sums;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    sums.push_back(sum_of_shown(samples[i], rows, hidden));
    for (const StepRow& row : rows)
      chart.values.push_back(hidden.contains(row.name) ? 0 : samples[i].step_ms(row.step));
    if (is_of_shown_frame(samples[i], history)) chart.marked.push_back(i);
  }
  // The width changes twice while the history fills, not with every frame.
  constexpr std::array<std::size_t, 3> widths{30, 100, History::most};
  chart.slots = *std::find_if(widths.begin(), widths.end() - 1,
                              [&](std::size_t slots) { return samples.size() <= slots; });
  chart.top = axis_top(percentile_99(std::move(sums)), top);
  chart.lines = {{1000.0 / 60, "16.7 ms"}, {1000.0 / 30, "33.3 ms"}};
  return chart;
}

// What identifies a sample to a person.
std::string title_of(const std::deque<Sample>& samples, std::size_t index, bool is_still) {
  const Sample& sample = samples[index];
  if (is_still) return fmt::format("measurement {} of {}", index + 1, samples.size());
  if (sample.position) return fmt::format("frame at {:.2f} s", *sample.position);
  return fmt::format("frame {:.1f} s before the newest",
                     std::chrono::duration<double>(samples.back().shown - sample.shown).count());
}

void draw_row(const std::string& name, double ms) {
  ImGui::TextUnformatted(name.c_str());
  ImGui::TableNextColumn();
  ImGui::Text("%.3f ms", ms);
  ImGui::TableNextColumn();
}

// Places the next window to the right of the panel, where it covers no numbers, and not below the
// end of the screen if it has at most this many lines.
void place_beside_panel(float lines) {
  const float height =
      lines * ImGui::GetTextLineHeightWithSpacing() + 2 * ImGui::GetStyle().WindowPadding.y;
  const float lowest = ImGui::GetMainViewport()->WorkSize.y - height;
  ImGui::SetNextWindowPos({ImGui::GetItemRectMax().x + ImGui::GetFontSize() * 2,
                           std::max(0.0f, std::min(ImGui::GetItemRectMin().y, lowest))});
}

// The numbers of the column under the pointer, next to the chart, which was drawn last.
void draw_values(const Sample& sample, const std::string& title, const StepRows& rows,
                 const HiddenSteps& hidden) {
  // title, faces, sum, latency, what a click does
  place_beside_panel(static_cast<float>(rows.size()) + 5);
  ImGui::BeginTooltip();
  ImGui::TextUnformatted(title.c_str());
  ImGui::TextDisabled("faces: %zu", sample.faces);
  if (ImGui::BeginTable("values", 2, ImGuiTableFlags_SizingFixedFit)) {
    ImGui::TableNextColumn();
    for (std::size_t i = rows.size(); i-- > 0;) {  // from the top of the column
      if (hidden.contains(rows[i].name)) continue;
      draw_swatch(step_colour(rows[i].step));
      draw_row(rows[i].name, sample.step_ms(rows[i].step));
    }
    draw_row(hidden.empty() ? "sum" : "sum of these", sum_of_shown(sample, rows, hidden));
    if (sample.latency_ms) draw_row("latency", *sample.latency_ms);
    ImGui::EndTable();
  }
  if (sample.position) ImGui::TextDisabled("Click to pause and show this frame");
  ImGui::EndTooltip();
}

constexpr const char* chart_meaning =
    "A column is one frame; its height is the time from reading it to drawing it, in milliseconds "
    "(thousandths of a second), and its colours are the steps in the table below. The dashed lines "
    "are the time between two frames of a camera with 60 or 30 frames per second. A triangle above "
    "a column: it is higher than the chart. A triangle below: the frame that is shown. The chart "
    "stands still while the pointer is over it, and tells the numbers of that column; a click "
    "shows "
    "a video's frame again";
constexpr const char* still_meaning =
    "A column is one measurement of this picture; its height is the time in milliseconds "
    "(thousandths of a second), and its colours are the steps in the table below. A triangle "
    "above a column: it is higher than the chart";

}  // namespace

// A moving column can be neither read nor clicked: the history is held while the pointer is over
// the chart. The measurements of a still picture come only once.
const History& TimesPanel::charted(const History& history, bool is_still) {
  if (!is_under_pointer_ || is_still)
    held_.reset();
  else if (!held_ || held_->subject() != history.subject())
    held_ = history;
  return held_ ? *held_ : history;
}

std::optional<double> TimesPanel::draw_columns(const History& charted, const StepRows& rows,
                                               const History& history, bool is_still) {
  const std::deque<Sample>& samples = charted.samples();
  ImGui::TextDisabled(is_still ? "ms per measurement" : "ms per frame, the newest on the right");
  tooltip(is_still ? still_meaning : chart_meaning);
  const Chart chart = make_chart(samples, rows, hidden_, history, is_still ? 0 : top_);
  top_ = chart.top;
  const ChartPointer pointer = draw_chart("chart", chart, ImGui::GetTextLineHeight() * 8);
  is_under_pointer_ = pointer.is_over_chart;
  if (!pointer.column) {
    tooltip(is_still ? still_meaning : chart_meaning);
    return std::nullopt;
  }
  const Sample& sample = samples[*pointer.column];
  draw_values(sample, title_of(samples, *pointer.column, is_still), rows, hidden_);
  return pointer.is_clicked ? sample.position : std::nullopt;
}

std::optional<double> TimesPanel::draw(const History& history, std::uint64_t dropped,
                                       bool is_still) {
  if (is_still)
    draw_spread(history);
  else
    draw_rates(history, dropped);
  const History& shown = charted(history, is_still);
  const StepRows rows = step_rows(shown);
  draw_step_bar(rows, hidden_);
  const std::optional<double> chosen = draw_columns(shown, rows, history, is_still);
  draw_step_table(rows, hidden_);
  return chosen;
}

}  // namespace facesat::app
