#include "app/live/panels/sat_chart.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <imgui.h>

#include "lab/problems/on_cpu.hpp"

namespace facesat::app {
namespace {

// A citation begins with its authors and a colon; other sources have no authors to name.
std::string authors_of(const std::string& paper, int year) {
  const std::size_t end = paper.find(':');
  return end == paper.npos ? paper : fmt::format("{} {}", paper.substr(0, end), year);
}

SatFacts facts_of(const gpu::SatAlgorithm& sat) {
  SatFacts facts{.id = std::string(sat.id),
                 .title = std::string(sat.title),
                 .paper = std::string(sat.source),
                 .authors = {},
                 .reads = sat.reads,
                 .writes = sat.writes,
                 .runs_as = sat.launches > 0 ? fmt::format("launches: {}", sat.launches)
                                             : "one launch per anti-diagonal"};
  facts.authors = authors_of(facts.paper, sat.year);
  return facts;
}

// Room for the longest text next to a bar, so that all bars begin and end together.
float number_width() {
  return ImGui::CalcTextSize("000.0 ms  00.0 x").x;
}

ImU32 bar_colour(const SatRank& rank, bool in_use) {
  if (!rank.identical) return IM_COL32(255, 153, 51, 255);  // that of warnings
  return ImGui::GetColorU32(in_use ? ImGuiCol_CheckMark : ImGuiCol_TextDisabled);
}

// Two slanted gaps near the end of a bar, which show that it is longer than drawn.
void draw_break(ImVec2 end, float height) {
  const float gap = height / 3;
  for (const float left : {end.x - 5 * gap, end.x - 3 * gap})
    ImGui::GetWindowDrawList()->AddLine({left, end.y}, {left + gap, end.y - height},
                                        ImGui::GetColorU32(ImGuiCol_WindowBg), gap / 2);
}

}  // namespace

std::vector<SatFacts> facts_of(std::span<const gpu::SatAlgorithm* const> sats) {
  std::vector<SatFacts> facts;
  for (const gpu::SatAlgorithm* sat : sats) facts.push_back(facts_of(*sat));
  return facts;
}

std::vector<SatFacts> cpu_sat_facts() {
  const std::string kasagi =
      "Kasagi, Nakano, Ito: Parallel Algorithms for the Summed Area Table on the Asynchronous "
      "Hierarchical Memory Machine, with GPU implementations, ICPP 2014";
  const std::string authors = authors_of(kasagi, 2014);
  return {
      {lab::id_2r2w, "Sums down the columns, then along the rows (2R2W)", kasagi, authors, 2, 2,
       "one thread"},
      {lab::id_4r1w, "Each element from its pixel and three neighbours (4R1W)", kasagi, authors, 4,
       1, "one thread"},
      {lab::id_backend, "Prefix sums in vector registers, both tables from one read of the pixels",
       "what facesat itself uses on the CPU", "facesat", 1, 1, "one thread"},
  };
}

std::string traffic_text(const SatFacts& facts) {
  return fmt::format("{:g} read{} and {:g} write{} per element", facts.reads,
                     facts.reads == 1 ? "" : "s", facts.writes, facts.writes == 1 ? "" : "s");
}

std::string explanation_of(const SatFacts& facts) {
  return fmt::format("{}\n{}\n{}; {}", facts.title, facts.paper, traffic_text(facts),
                     facts.runs_as);
}

std::vector<SatRow> rows_of(const std::vector<SatFacts>& facts, const Comparison& comparison) {
  std::vector<SatRow> rows, others;
  const auto facts_of_rank = [&](const SatRank& rank) {
    return std::find_if(facts.begin(), facts.end(),
                        [&](const SatFacts& one) { return one.id == rank.id; });
  };
  for (const SatRank& rank : comparison.ranks)
    if (const auto found = facts_of_rank(rank); found != facts.end())
      rows.push_back({*found, rank});
  for (const SatFacts& one : facts)
    if (std::none_of(rows.begin(), rows.end(),
                     [&](const SatRow& row) { return row.facts.id == one.id; }))
      others.push_back({one, std::nullopt});
  rows.insert(rows.end(), others.begin(), others.end());
  return rows;
}

double chart_end(const Comparison& comparison) {
  std::vector<double> times;  // ascending
  for (const SatRank& rank : comparison.ranks)
    if (rank.failure.empty()) times.push_back(rank.sat_ms);
  if (times.empty()) return comparison.floor_ms;
  const double median = times[times.size() / 2];
  return std::max(comparison.floor_ms, std::min(times.back(), 3 * median));
}

std::string time_text(double ms) {
  return fmt::format("{:.{}f} ms", ms, ms < 10 ? 3 : ms < 100 ? 2 : 1);
}

std::string factor_text(double ms, double of_what_ms) {
  if (of_what_ms <= 0) return {};
  const double factor = ms / of_what_ms;
  return fmt::format("{:.{}f} x", factor, factor < 100 ? 1 : 0);
}

std::string measured_text(const SatRank& rank, const Comparison& comparison) {
  if (!rank.failure.empty()) return fmt::format("It failed: {}", rank.failure);
  std::string text = fmt::format("SAT: {}", time_text(rank.sat_ms));
  if (const std::string factor = factor_text(rank.sat_ms, comparison.floor_ms); !factor.empty())
    text += fmt::format(", {} the time of a plain copy", factor);
  if (rank.detect_ms > 0) text += fmt::format("\nThe whole frame: {}", time_text(rank.detect_ms));
  return text + fmt::format("\nIts {} are {} those of the others",
                            comparison.on_device ? "faces" : "tables",
                            rank.identical ? "the same as" : "DIFFERENT from");
}

void draw_sat_bar(const SatRank& rank, const Comparison& comparison, bool in_use) {
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  const float line = ImGui::GetTextLineHeight(), gap = ImGui::GetStyle().ItemInnerSpacing.x;
  const float whole = ImGui::GetContentRegionAvail().x;
  const float width = std::max(whole - number_width() - gap, line);
  const double end = chart_end(comparison);
  const auto place = [&](double ms) {
    return end > 0 ? corner.x + width * static_cast<float>(std::min(ms / end, 1.0)) : corner.x;
  };
  const float top = corner.y + line * 0.2f, bottom = corner.y + line * 0.8f;
  ImDrawList* const list = ImGui::GetWindowDrawList();
  list->AddRectFilled({corner.x, top}, {corner.x + width, bottom},
                      ImGui::GetColorU32(ImGuiCol_FrameBg));
  const float right = place(rank.sat_ms);
  list->AddRectFilled({corner.x, top}, {right, bottom}, bar_colour(rank, in_use));
  if (rank.sat_ms > end) draw_break({right, bottom}, bottom - top);
  if (comparison.floor_ms > 0)
    list->AddRectFilled({place(comparison.floor_ms) - 1, corner.y},
                        {place(comparison.floor_ms) + 1, corner.y + line},
                        ImGui::GetColorU32(ImGuiCol_Text));
  const std::string number = time_text(rank.sat_ms);
  const std::string factor = factor_text(rank.sat_ms, comparison.floor_ms);
  const auto add_text = [&](const std::string& text, float right_end) {
    list->AddText({right_end - ImGui::CalcTextSize(text.c_str()).x, corner.y},
                  ImGui::GetColorU32(ImGuiCol_Text), text.c_str());
  };
  add_text(factor, corner.x + whole);
  add_text(number, corner.x + whole - ImGui::CalcTextSize("00.0 x  ").x);
  ImGui::Dummy({whole, line});
}

}  // namespace facesat::app
