#include "app/live/panels/sat_pair.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <imgui.h>

#include "app/live/gui/widgets.hpp"
#include "app/live/panels/sat_chart.hpp"

namespace facesat::app {
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
  constexpr std::size_t sat = 1 + static_cast<std::size_t>(Step::sat);  // capture is step 0
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
