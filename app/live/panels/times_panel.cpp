// The panel of times: rates, latency, a bar and a chart of the steps, and a table that compares
// them with a plain copy of the same bytes and in which they are switched off and on; of a still
// picture the median and spread of its measurements instead of rates and latency.
#include <algorithm>
#include <array>
#include <chrono>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <imgui.h>

#include "app/live/gui/chart.hpp"
#include "app/live/gui/widgets.hpp"
#include "app/live/panels/panel.hpp"

namespace facesat::app {
namespace {

using HiddenSteps = std::set<std::string>;  // by their names

using KeptTimes = std::map<std::string, double>;  // milliseconds by the names of steps

struct StepRow {
  std::size_t step;
  std::string name;
  History::StepSummary median;
};
using StepRows = std::vector<StepRow>;
constexpr std::array<Column, 6> step_columns{{
    {"step", "What happens to a frame, in this order. A click on a step leaves it out of the chart",
     ImGuiTableColumnFlags_WidthFixed},
    {"ms", "Milliseconds: the median of the samples that the chart shows"},
    {"share", "The part of the steps that are shown"},
    {"GB/s", "The bytes that the step must at least read and write, by its time"},
    {"x copy",
     "How many times as long the step takes as a plain copy, from memory to memory with all "
     "threads, of as many bytes as the step must at least read and write. Below 1 where they stay "
     "in a cache. Evaluation reads them many times over"},
    {"x kept", "How many times as long as the time that was kept"},
}};

constexpr std::array<const char*, live_step_count> step_meanings{
    "Reading the frame from its source",
    "Decoding a JPEG from a camera: on the GPU, with the way into its memory and back, or on the "
    "CPU",
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

double sum_of_medians(const StepRows& rows, const HiddenSteps& hidden) {
  double sum = 0;
  for (const StepRow& row : rows)
    if (!hidden.contains(row.name)) sum += row.median.ms;
  return sum;
}

ImU32 step_colour(std::size_t step) {
  constexpr std::array<ImU32, live_step_count> colours{
      IM_COL32(120, 120, 130, 255), IM_COL32(200, 60, 90, 255), IM_COL32(160, 110, 60, 255),
      IM_COL32(86, 180, 233, 255),  IM_COL32(0, 158, 115, 255), IM_COL32(240, 228, 66, 255),
      IM_COL32(213, 94, 0, 255),    IM_COL32(0, 114, 178, 255), IM_COL32(204, 121, 167, 255),
      IM_COL32(170, 170, 180, 255),
  };
  constexpr std::array<ImU32, 4> filter_colours{
      IM_COL32(150, 95, 225, 255), IM_COL32(205, 170, 250, 255), IM_COL32(110, 60, 170, 255),
      IM_COL32(178, 132, 238, 255)};
  return step < live_step_count ? colours[step]
                                : filter_colours[(step - live_step_count) % filter_colours.size()];
}

// Fills a table cell with a number, or leaves it empty if there is none.
void draw_number(const char* format, double number, bool is_there) {
  ImGui::TableNextColumn();
  if (is_there) ImGui::Text(format, number);
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

// The steps of detection that were seen on one backend. Their rows stay, so that nothing moves when
// a source has no such step, or nothing is detected for a while.
struct SeenSteps {
  std::string backend;
  std::set<std::size_t> steps;
};

StepRows step_rows(const History& history, SeenSteps& seen, const std::string& backend) {
  if (std::exchange(seen.backend, backend) != backend) seen.steps.clear();
  std::vector<std::size_t> shown = history.steps();
  if (!history.samples().empty())
    std::ranges::copy_if(shown, std::inserter(seen.steps, seen.steps.end()),
                         [](std::size_t step) { return step < live_step_count; });
  shown.insert(shown.end(), seen.steps.begin(), seen.steps.end());
  // The last step, drawing the window, comes after those of the filter.
  const auto place = [](std::size_t step) {
    return step == live_step_count - 1 ? std::numeric_limits<std::size_t>::max() : step;
  };
  std::ranges::sort(shown, {}, place);
  const auto twice = std::ranges::unique(shown);
  shown.erase(twice.begin(), twice.end());
  if (history.samples().empty() && !seen.steps.empty())
    std::erase_if(shown, [&](std::size_t step) { return !seen.steps.contains(step); });
  StepRows rows;
  for (const std::size_t step : shown)
    rows.push_back({step, history.step_name(step), history.step(step)});
  return rows;
}

// The steps that are not hidden, from left to right, as long as their medians.
void draw_step_bar(const StepRows& rows, const HiddenSteps& hidden) {
  const double whole = sum_of_medians(rows, hidden);
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

// The kernels of a step, below its row.
void draw_kernel_rows(const std::vector<History::KernelSummary>& kernels, double whole, float width,
                      std::size_t columns) {
  const float indent = ImGui::GetFontSize();
  for (const History::KernelSummary& kernel : kernels) {
    const std::string name =
        kernel.launches == 1 ? kernel.name : fmt::format("{} x {}", kernel.launches, kernel.name);
    ImGui::TableNextColumn();
    ImGui::SetCursorPosX(ImGui::GetCursorPosX() + indent);
    ImGui::TextDisabled("%s", shortened(name, width - indent).c_str());
    tooltip(name + ": the kernels of this name in this step, and how often a frame launches them");
    draw_number("%.3f", kernel.ms, true);
    draw_number("%.0f %%", kernel.ms / whole * 100, whole > 0);
    for (std::size_t column = 3; column < columns; ++column) ImGui::TableNextColumn();
  }
}

// One row per step, the legend of the bar and of the chart, with the rows of its kernels. A click
// on a step's name hides it or shows it again.
void draw_step_table(const StepRows& rows, HiddenSteps& hidden, const History& history,
                     const KeptTimes& kept) {
  const float widest_name = 0.45f * ImGui::GetContentRegionAvail().x;
  const std::size_t columns = step_columns.size() - kept.empty();
  if (!begin_table("steps", std::span(step_columns).first(columns), ImGuiTableFlags_RowBg)) return;
  const double whole = sum_of_medians(rows, hidden);
  for (const StepRow& row : rows) {
    const History::StepSummary& median = row.median;
    ImGui::TableNextColumn();
    draw_name(row, hidden, widest_name);
    draw_number(median.ms < 100 ? "%.3f" : "%.1f", median.ms, whole > 0);
    draw_number("%.0f %%", median.ms / whole * 100, whole > 0 && !hidden.contains(row.name));
    draw_number("%.1f", median.bytes_per_s / 1e9, median.bytes_per_s > 0);
    draw_number(median.floors < 100 ? "%.1f" : "%.0f", median.floors, median.floors > 0);
    const auto before = kept.find(row.name);
    const bool is_known = before != kept.end() && before->second > 0 && whole > 0;
    if (!kept.empty()) draw_number("%.2f", is_known ? median.ms / before->second : 0, is_known);
    if (!hidden.contains(row.name))
      draw_kernel_rows(history.kernels(row.step), whole, widest_name, columns);
  }
  ImGui::EndTable();
}

void draw_rates(const History& history, const PanelContext& context) {
  const std::string rate = context.source.is_playing()
                               ? fmt::format("{:.1f} frames/s", history.frames_per_second())
                               : "paused";
  draw_status(
      fmt::format("{}, detection p50 {:.2f} ms", rate, history.detect_quantile(0.5)),
      "Frames shown in the last second; the median time from frame to faces. It is longer than the "
      "steps from upload to group together: the first frame prepares for its size, too");
  draw_status(
      history.has_latencies()
          ? fmt::format("latency p50 {:.1f}  p95 {:.1f}  p99 {:.1f} ms",
                        history.latency_quantile(0.5), history.latency_quantile(0.95),
                        history.latency_quantile(0.99))
          : "latency: of new frames only",
      "From the camera or file to the screen, of new frames: median, 95th and 99th percentile");
  draw_status(fmt::format("frames replaced by newer ones: {}", context.dropped),
              "Detection always takes the newest frame; these came too fast for it");
}

void draw_spread(const History& history) {
  draw_status(history.samples().empty()
                  ? ""
                  : fmt::format("detection {:.2f} ms, median of {}", history.detect_quantile(0.5),
                                history.samples().size()),
              "A still picture is measured thirty times, if that takes no longer than a second");
  constexpr std::size_t enough = 20;  // for one in twenty
  draw_status(history.samples().size() < enough
                  ? ""
                  : fmt::format("90 % between {:.2f} and {:.2f} ms", history.detect_quantile(0.05),
                                history.detect_quantile(0.95)),
              "One measurement in twenty was faster than this, and one in twenty slower");
  draw_status("", "");  // as many lines as draw_rates() has
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

void draw_value(const std::string& name, double ms) {
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
      draw_value(rows[i].name, sample.step_ms(rows[i].step));
    }
    draw_value(hidden.empty() ? "sum" : "sum of these", sum_of_shown(sample, rows, hidden));
    if (sample.latency_ms) draw_value("latency", *sample.latency_ms);
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
    "shows a video's frame again. Drag over some columns: the table is of those alone";
constexpr const char* still_meaning =
    "A column is one measurement of this picture; its height is the time in milliseconds "
    "(thousandths of a second), and its colours are the steps in the table below. A triangle "
    "above a column: it is higher than the chart. Drag over some columns: the table is of those "
    "alone";

class TimesPanel final : public Panel {
 public:
  TimesPanel() : Panel("Times") {}
  void begin(PanelContext& context) override;
  void draw(PanelContext& context) override;

 private:
  void draw_kernel_choice(const PanelContext& context);
  const History& charted(const History& history, bool is_still);
  std::optional<double> draw_columns(const History& charted, const StepRows& rows,
                                     const History& history, bool is_still);
  void draw_caption(std::size_t samples, bool is_still) const;
  void draw_buttons(PanelContext& context, const StepRows& rows, const History& measured);

  HiddenSteps hidden_;
  bool shows_kernels_ = false;     // as the user chose
  bool is_drawn_ = false;          // since begin()
  double top_ = 0;                 // of the chart's axis, in ms
  bool is_under_pointer_ = false;  // the chart, when it was drawn last
  // What is shown as long as the chart is under the pointer, or a part of it is selected.
  std::optional<History> held_;
  std::optional<ColumnRange> selected_;  // samples of held_
  KeptTimes kept_;
  SeenSteps seen_;
};

// A moving column can be neither read nor clicked nor selected: the history is held while the
// pointer is over the chart, and while a part is selected. The measurements of a still picture come
// only once.
const History& TimesPanel::charted(const History& history, bool is_still) {
  if (held_ && held_->subject() != history.subject()) {
    held_.reset();
    selected_.reset();
  }
  if (!selected_ && (!is_under_pointer_ || is_still))
    held_.reset();
  else if (!held_)
    held_ = history;
  return held_ ? *held_ : history;
}

void TimesPanel::draw_caption(std::size_t samples, bool is_still) const {
  const char* const what = is_still ? "measurements" : "frames";
  if (selected_)
    return draw_status(fmt::format("{} of {} {} selected; a click ends that",
                                   selected_->last - selected_->first + 1, samples, what),
                       "The table is of these alone, until the chart is clicked");
  ImGui::TextDisabled(is_still ? "ms per measurement" : "ms per frame, the newest on the right");
  tooltip(is_still ? still_meaning : chart_meaning);
}

std::optional<double> TimesPanel::draw_columns(const History& charted, const StepRows& rows,
                                               const History& history, bool is_still) {
  const std::deque<Sample>& samples = charted.samples();
  draw_caption(samples.size(), is_still);
  Chart chart = make_chart(samples, rows, hidden_, history, is_still ? 0 : top_);
  top_ = chart.top;
  chart.selected = selected_;
  const ChartPointer pointer = draw_chart("chart", chart, ImGui::GetTextLineHeight() * 8);
  is_under_pointer_ = pointer.is_over_chart;
  if (pointer.dragged)
    selected_ = pointer.dragged;
  else if (pointer.is_clicked && std::exchange(selected_, std::nullopt))
    return std::nullopt;
  if (!pointer.column) {
    tooltip(is_still ? still_meaning : chart_meaning);
    return std::nullopt;
  }
  const Sample& sample = samples[*pointer.column];
  draw_values(sample, title_of(samples, *pointer.column, is_still), rows, hidden_);
  return pointer.is_clicked ? sample.position : std::nullopt;
}

// Kernels are measured only while their times can be seen.
void TimesPanel::begin(PanelContext& context) {
  bool& measured = context.choices.settings.kernels;
  const bool wanted = shows_kernels_ && std::exchange(is_drawn_, false);
  if (wanted != std::exchange(measured, wanted)) context.wishes.settings = true;
}

void TimesPanel::draw_kernel_choice(const PanelContext& context) {
  const bool is_on_gpu = !context.result.sat.empty();
  ImGui::BeginDisabled(!is_on_gpu);
  bool shows = shows_kernels_;
  // The keyboard reaches disabled controls, too.
  if (ImGui::Checkbox("kernels of each step", &shows) && is_on_gpu) shows_kernels_ = shows;
  ImGui::EndDisabled();
  tooltip(is_on_gpu ? "The times of the kernels (functions that run on the GPU) below their step. "
                      "Measuring them costs some microseconds per kernel"
                    : "On a GPU, the times of the kernels that a step launches");
}

void TimesPanel::draw(PanelContext& context) {
  is_drawn_ = true;
  const History& history = context.history;
  const bool is_still = context.result.frame.is_still();
  if (is_still)
    draw_spread(history);
  else
    draw_rates(history, context);
  const History& shown = charted(history, is_still);
  std::optional<History> part;
  if (selected_) part = shown.part(selected_->first, selected_->last);
  const History& measured = part ? *part : shown;
  const StepRows rows = step_rows(measured, seen_, context.result.backend);
  draw_step_bar(rows, hidden_);
  context.wishes.seek = draw_columns(shown, rows, history, is_still);
  draw_kernel_choice(context);
  draw_step_table(rows, hidden_, measured, kept_);
  draw_buttons(context, rows, measured);
}

void TimesPanel::draw_buttons(PanelContext& context, const StepRows& rows,
                              const History& measured) {
  const bool is_measured = !measured.samples().empty();
  ImGui::BeginDisabled(!is_measured);  // the keyboard reaches disabled buttons, too
  if (ImGui::Button("save as CSV") && is_measured) context.saving.save_times(measured);
  tooltip("The times that the chart shows, or those that are selected, one line per frame");
  ImGui::SameLine();
  if (!kept_.empty()) {
    if (ImGui::Button("forget the kept times###keep")) kept_.clear();
    tooltip("The column \"x kept\" goes");
  } else {
    if (ImGui::Button("keep these times###keep") && is_measured)
      for (const StepRow& row : rows) kept_[row.name] = row.median.ms;
    tooltip("A further column compares what follows with them: other settings, another source");
  }
  ImGui::EndDisabled();
}

}  // namespace

std::unique_ptr<Panel> make_times_panel() {
  return std::make_unique<TimesPanel>();
}

}  // namespace facesat::app
