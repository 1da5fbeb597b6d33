#include "app/live/panels/sat_parts.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <imgui.h>

#include "app/live/gui/widgets.hpp"
#include "lab/problems/on_cpu.hpp"

namespace facesat::app {
namespace {

// A citation begins with its authors and a colon; other sources have no authors to name.
std::string authors_of(const std::string& paper, int year) {
  const std::size_t end = paper.find(':');
  return end == paper.npos ? paper : fmt::format("{} {}", paper.substr(0, end), year);
}

double documented_us(std::string_view id) {
  static const std::map<std::string_view, double> times{
#include "documented_times.inc"
  };
  const auto found = times.find(id);
  return found == times.end() ? 0 : found->second;
}

SatFacts facts_of(const gpu::SatAlgorithm& sat) {
  SatFacts facts{.id = std::string(sat.id),
                 .title = std::string(sat.title),
                 .paper = std::string(sat.source),
                 .authors = {},
                 .reads = sat.reads,
                 .writes = sat.writes,
                 .runs_as = sat.launches > 0 ? fmt::format("launches: {}", sat.launches)
                                             : "one launch per anti-diagonal",
                 .documented_us = documented_us(sat.id)};
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

namespace {

constexpr std::array sides{SatPair::a, SatPair::b};
using Texts = std::array<std::string, sides.size()>;

// Breaks an id after underscores, so that no line is wider than `width`.
std::string broken_id(const std::string& id, float width) {
  std::string text, line;
  for (std::size_t begin = 0; begin < id.size();) {
    const std::size_t end = std::min(id.find('_', begin), id.size() - 1) + 1;
    const std::string part = id.substr(begin, end - begin);
    if (!line.empty() && ImGui::CalcTextSize((line + part).c_str()).x > width) {
      text += line + '\n';
      line.clear();
    }
    line += part;
    begin = end;
  }
  return text + line;
}

// The ids, with the same number of lines, so that what follows them stands side by side.
Texts names_of(const SatPair& pair, float width) {
  Texts names;
  std::array<std::ptrdiff_t, sides.size()> breaks{};
  for (const SatPair::Side side : sides) {
    names[side] = pair.id(side).empty() ? "not pinned" : broken_id(pair.id(side), width);
    breaks[side] = std::count(names[side].begin(), names[side].end(), '\n');
  }
  const std::ptrdiff_t most = std::max(breaks[0], breaks[1]);
  for (const SatPair::Side side : sides)
    names[side].append(static_cast<std::size_t>(most - breaks[side]), '\n');
  return names;
}

Texts texts_of(const SatPair& pair, const std::string& in_use, float width) {
  Texts texts = names_of(pair, width);
  for (const SatPair::Side side : sides) {
    std::string& text = texts[side];
    const bool is_pinned = !pair.id(side).empty();
    text = fmt::format("{}{}\n{}", side == SatPair::a ? "A" : "B",
                       is_pinned && pair.id(side) == in_use ? ", in use" : "", text);
    if (const SatPair::Times* const times = pair.times(side))
      text += fmt::format("\nSAT {}\nframe {}\nmedian of {}", time_text(times->sat_ms),
                          time_text(times->detect_ms), times->frames);
    else if (is_pinned)
      text += "\nnot run yet";
  }
  return texts;
}

// Two boxes of the same height; that of the algorithm in use has a coloured border.
void draw_boxes(const SatPair& pair, const std::string& in_use) {
  const ImGuiStyle& style = ImGui::GetStyle();
  const float gap = style.ItemSpacing.x, padding = style.FramePadding.x;
  const float width = (ImGui::GetContentRegionAvail().x - gap) / 2;
  const Texts texts = texts_of(pair, in_use, width - 2 * padding);
  float height = 0;
  for (const std::string& text : texts)
    height = std::max(height, ImGui::CalcTextSize(text.c_str()).y + 2 * padding);
  for (const SatPair::Side side : sides) {
    if (side == SatPair::b) ImGui::SameLine(0, gap);
    const ImVec2 corner = ImGui::GetCursorScreenPos(), end{corner.x + width, corner.y + height};
    const bool is_used = !in_use.empty() && pair.id(side) == in_use;
    ImDrawList* const list = ImGui::GetWindowDrawList();
    list->AddRectFilled(corner, end, ImGui::GetColorU32(ImGuiCol_FrameBg), style.FrameRounding);
    if (is_used)
      list->AddRect(corner, end, ImGui::GetColorU32(ImGuiCol_CheckMark), style.FrameRounding, 0, 2);
    list->AddText({corner.x + padding, corner.y + padding}, ImGui::GetColorU32(ImGuiCol_Text),
                  texts[side].c_str());
    ImGui::Dummy({width, height});
    tooltip(
        "The median times of the last live frames that this algorithm has processed: of the "
        "integral images, and from the frame to its faces. They are kept while the other algorithm "
        "runs, until the source or a setting changes");
  }
}

void draw_ratios(const SatPair::Times& a, const SatPair::Times& b) {
  const auto ratio = [](double of_b, double of_a) {
    return of_a > 0 ? fmt::format("{:.2f}", of_b / of_a) : std::string("unknown");
  };
  ImGui::TextWrapped("B / A: SAT %s, frame %s", ratio(b.sat_ms, a.sat_ms).c_str(),
                     ratio(b.detect_ms, a.detect_ms).c_str());
  tooltip("The times of B divided by those of A: below 1, B is faster");
}

}  // namespace

void SatPair::pin(Side side, std::string id) {
  const bool was_pinned = ids_[side] == id;
  std::replace(ids_.begin(), ids_.end(), id, std::string());
  if (!was_pinned) ids_[side] = std::move(id);
}

std::string SatPair::next(const std::string& in_use) const {
  if (!is_complete()) return {};
  return in_use == ids_[a] ? ids_[b] : ids_[a];
}

std::string SatPair::due(const std::string& in_use, Clock::time_point now) {
  if (in_use != running_ || !alternates || !is_complete()) {
    running_ = in_use;
    since_ = now;
    return {};
  }
  return now - since_ < turn ? std::string() : next(in_use);
}

SatPair::Times SatPair::times_of(const History& history) {
  constexpr std::size_t sat = live_step(Step::sat);
  return {history.step(sat).ms, history.detect_quantile(0.5), history.samples().size()};
}

void SatPair::keep(const std::string& in_use, const Times& times, const Subject& any_sat) {
  constexpr std::size_t enough = 10;
  if (any_sat != subject_) times_.clear();
  subject_ = any_sat;
  if (times.frames == 0) return;
  Times& kept = times_[in_use];
  if (times.frames >= std::min(kept.frames, enough)) kept = times;
}

const SatPair::Times* SatPair::times(Side side) const {
  const auto found = times_.find(ids_[side]);
  return found == times_.end() ? nullptr : &found->second;
}

bool draw_pair(SatPair& pair, const std::string& in_use) {
  if (pair.id(SatPair::a).empty() && pair.id(SatPair::b).empty()) {
    draw_remark("Pin two algorithms with A and B to compare them on the live frames.");
    return false;
  }
  draw_boxes(pair, in_use);
  const SatPair::Times *const a = pair.times(SatPair::a), *const b = pair.times(SatPair::b);
  if (a && b) draw_ratios(*a, *b);
  ImGui::BeginDisabled(!pair.is_complete());
  const bool switches = ImGui::Button("switch (X)");
  tooltip("Uses B if A is in use, otherwise A");
  ImGui::SameLine();
  ImGui::Checkbox("alternate", &pair.alternates);
  tooltip("Switches between A and B every two seconds");
  ImGui::EndDisabled();
  return switches;
}

}  // namespace facesat::app
