#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <imgui.h>

#include "app/live/gui/widgets.hpp"
#include "app/live/panels/sat_chart.hpp"
#include "app/live/panels/view_parts.hpp"

namespace facesat::app {
namespace {

struct Named {
  const char *name, *meaning;
};

// In the order of FilterKind.
constexpr std::array<Named, filter_names.size()> kinds{{
    {"box", "The mean of the window around each pixel"},
    {"Gaussian",
     "A weighted mean of the window around each pixel: near pixels count more. Its sigma is the "
     "one that OpenCV takes for the radius"},
    {"Sobel", "Edges: the length of the gradient, which is large where brightness changes"},
    {"adaptive threshold",
     "White where a pixel exceeds the mean of the window around it minus the offset, else black"},
    {"local standard deviation",
     "How much the pixels of the window around each pixel vary; dark where they are alike"},
    {"halftone",
     "Black and white only: what rounding a pixel leaves is passed on to its neighbours (error "
     "diffusion)"},
}};

// In the order of Border.
constexpr std::array<const char*, border_names.size()> border_meanings{
    "Black: 0 0 0 | a b c d | 0 0 0",
    "The last pixel goes on: a a a | a b c d | d d d",
    "The picture is mirrored at its edge: c b a | a b c d | d c b",
    "The picture is mirrored at its last pixel: d c b | a b c d | c b a",
    "The picture is repeated: b c d | a b c d | a b c",
};

bool choose_kind(FilterChoice& choice) {
  PictureFilterSettings& filter = choice.filter;
  const auto chosen = static_cast<std::size_t>(filter.kind);
  const bool is_open = ImGui::BeginCombo("filter", kinds[chosen].name);
  if (!is_open) tooltip(kinds[chosen].meaning);
  if (!is_open) return false;
  bool changed = false;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (ImGui::Selectable(kinds[i].name, i == chosen)) {
      filter.kind = static_cast<FilterKind>(i);
      filter.radius = std::min(filter.radius, largest_radius(filter.kind));
      filter.algorithm.clear();
      choice.compared.clear();
      changed = true;
    }
    tooltip(kinds[i].meaning);
  }
  ImGui::EndCombo();
  return changed;
}

bool choose_border(Border& border) {
  const auto chosen = static_cast<std::size_t>(border);
  const bool is_open = ImGui::BeginCombo("border", border_names[chosen].data());
  if (!is_open)
    tooltip("What stands beyond the edges of the picture, for windows that reach there");
  if (!is_open) return false;
  bool changed = false;
  for (std::size_t i = 0; i < border_names.size(); ++i) {
    if (ImGui::Selectable(border_names[i].data(), i == chosen)) {
      border = static_cast<Border>(i);
      changed = true;
    }
    tooltip(border_meanings[i]);
  }
  ImGui::EndCombo();
  return changed;
}

// A list of algorithms without `excluded`. none: the name of an additional entry, the empty
// algorithm; null: there is no such entry.
bool choose_algorithm(const char* label, std::string& algorithm, const char* meaning,
                      const FilterResult& result, const std::string& excluded, const char* none) {
  const bool is_open = ImGui::BeginCombo(label, algorithm.empty() ? none : algorithm.c_str());
  if (!is_open) tooltip(meaning);
  if (!is_open) return false;
  bool changed = false;
  const auto offer = [&](const char* name, const std::string& value) {
    if (!ImGui::Selectable(name, value == algorithm)) return;
    algorithm = value;
    changed = true;
  };
  if (none) offer(none, "");
  for (const std::string& name : result.algorithms)
    if (name != excluded) offer(name.c_str(), name);
  ImGui::EndCombo();
  return changed;
}

bool choose_algorithms(FilterChoice& choice, const FilterResult& result) {
  std::string used = result.shown.algorithm;
  bool changed = false;
  if (choose_algorithm("algorithm", used, "How the filter is computed", result, "", nullptr)) {
    choice.filter.algorithm = used;
    changed = true;
  }
  if (result.algorithms.size() < 2) return changed;
  std::string compared = result.compared ? result.compared->algorithm : "";
  if (choose_algorithm("compare with", compared,
                       "A second algorithm, which runs on each frame, too, so that both times can "
                       "be compared. It is not in the chart of times",
                       result, result.shown.algorithm, "none")) {
    choice.compared = compared;
    changed = true;
  }
  return changed;
}

std::string steps_text(const FilterRun& run) {
  std::string text;
  for (const FilterTime& time : run.times)
    text += fmt::format("\n{}: {}", time.step, time_text(time.us / 1000));
  return text;
}

// The name and the time. share: of the width, of a bar below them; 0: no bar.
void draw_time(const FilterRun& run, double ms, double share, std::size_t samples) {
  const float width = ImGui::GetContentRegionAvail().x, line = ImGui::GetTextLineHeight();
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  const float top = corner.y + 1.2f * line, bottom = share > 0 ? top + line / 4 : corner.y + line;
  const std::string number = time_text(ms);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const ImU32 text = ImGui::GetColorU32(ImGuiCol_Text);
  list.AddText(corner, text, run.algorithm.c_str());
  list.AddText({corner.x + width - ImGui::CalcTextSize(number.c_str()).x, corner.y}, text,
               number.c_str());
  if (share > 0) {
    list.AddRectFilled({corner.x, top}, {corner.x + width, bottom},
                       ImGui::GetColorU32(ImGuiCol_FrameBg));
    list.AddRectFilled({corner.x, top}, {corner.x + width * static_cast<float>(share), bottom},
                       ImGui::GetColorU32(ImGuiCol_CheckMark));
  }
  ImGui::Dummy({width, bottom - corner.y});
  tooltip(
      fmt::format("The median of {} measurements, without transfers to and from a GPU. The steps "
                  "of the last one:{}",
                  samples, steps_text(run)));
}

void draw_filter_times(const FilterResult& result, const History& history) {
  const double shown = history.filter_compute_ms(), compared = history.compared_compute_ms();
  const std::size_t samples = history.samples().size();
  if (!result.compared) return draw_time(result.shown, shown, 0, samples);
  const double longest = std::max({shown, compared, 1e-6});
  draw_time(result.shown, shown, shown / longest, samples);
  draw_time(*result.compared, compared, compared / longest, samples);
  ImGui::TextWrapped("%s as long; %s", factor_text(compared, shown).c_str(),
                     result.difference == 0
                         ? "the same pixels"
                         : fmt::format("pixels differ by up to {}", result.difference).c_str());
  tooltip("The second time divided by the first: above 1, the algorithm in use is the faster one");
}

}  // namespace

bool draw_filter(FilterChoice& choice, const LiveResult& last, const History& history) {
  PictureFilterSettings& filter = choice.filter;
  bool changed = choose_kind(choice);
  const bool has_window = filter.kind != FilterKind::halftone;
  if (has_window) {
    changed |= ImGui::SliderInt("radius", &filter.radius, 1, largest_radius(filter.kind), "%d",
                                ImGuiSliderFlags_AlwaysClamp);
    tooltip("The window has 2 radius + 1 rows and columns. Ctrl+click to type");
  }
  // The first result after another filter was chosen is still that of the filter before.
  const bool is_of_filter = last.filter && last.settings.filter.filter.kind == filter.kind;
  if (is_of_filter) draw_filter_times(*last.filter, history);
  if (filter.kind == FilterKind::adaptive_threshold) {
    changed |= ImGui::SliderInt("offset", &filter.offset, -largest_offset, largest_offset, "%d",
                                ImGuiSliderFlags_AlwaysClamp);
    tooltip("How far below the mean a pixel may be and still become white. Ctrl+click to type");
  }
  if (has_window) changed |= choose_border(filter.border);
  if (is_of_filter) changed |= choose_algorithms(choice, *last.filter);
  return changed;
}

}  // namespace facesat::app
