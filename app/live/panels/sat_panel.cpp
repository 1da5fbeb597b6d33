// The panel of SAT (summed area table) algorithms: what they are, how fast they are on the current
// frame, and two of them side by side.
#include <algorithm>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <imgui.h>

#include "app/live/gui/drawing.hpp"
#include "app/live/gui/widgets.hpp"
#include "app/live/panels/panel.hpp"
#include "app/live/panels/sat_parts.hpp"
#include "lab/problems/on_cpu.hpp"

namespace facesat::app {
namespace {

// The algorithm on the device; empty if faces are detected on the CPU.
std::string sat_in_use(const LiveSettings& settings, const LiveResult& last) {
  if (settings.backend.choice == BackendChoice::cpu || last.sat.empty()) return {};
  return settings.backend.sat.empty() ? last.sat : settings.backend.sat;
}

bool use_sat(const std::string& sat, LiveSettings& settings) {
  if (sat.empty()) return false;
  settings.backend.sat = sat;
  return true;
}

// Returns true if it is pressed. The keyboard reaches buttons even if they are disabled.
bool draw_button(const char* label, bool is_usable, const std::string& explanation) {
  ImGui::BeginDisabled(!is_usable);
  const bool pressed = ImGui::Button(label);
  ImGui::EndDisabled();
  tooltip(explanation);
  return pressed && is_usable;
}

// This and the next function draw three lines, whatever there is to say, so that the rows below do
// not move.
void draw_progress(const Comparison& comparison, bool is_of_source) {
  const std::size_t done = comparison.ranks.size();
  const bool is_running = !comparison.running.empty();
  std::string text = comparison.message;
  if (is_running)
    text = comparison.pictures == 1
               ? fmt::format("{} of {}: {}", done + 1, comparison.count, comparison.running)
               : comparison.running;
  else if (text.empty() && comparison.levels > 0 && !is_of_source)
    text = "these times are of another picture or video";
  draw_status(text, is_running ? "How much is measured" : "", !is_running && !text.empty());
}

void draw_measured_frame(const Comparison& comparison) {
  if (comparison.levels == 0) {
    draw_status("", "");
    return draw_status("", "");
  }
  const auto [width, height] = comparison.image;
  const auto [atlas_width, atlas_height] = comparison.atlas;
  const std::string how = comparison.on_device
                              ? fmt::format("atlas of {} x {}", atlas_width, atlas_height)
                              : "one thread each";
  draw_status(
      comparison.pictures == 1
          ? fmt::format("{} x {}, {} levels, {}: {}", width, height, comparison.levels, how,
                        comparison.source_name)
          : fmt::format("sums over {}, {} levels{}", comparison.source_name, comparison.levels,
                        comparison.on_device ? "" : ", one thread each"),
      comparison.on_device
          ? "The frame that was measured, in pixels; the levels of its pyramid, which are smaller "
            "and smaller copies of it; and the image that holds them all, whose integral images "
            "are computed"
          : "The frame that was measured, in pixels, and the levels of its pyramid, which are "
            "smaller and smaller copies of it. Each algorithm computes the integral images of all "
            "levels in a single thread; detection itself uses all threads");
  draw_status(comparison.floor_ms > 0
                  ? fmt::format("the line is a plain copy: {}", time_text(comparison.floor_ms))
                  : "",
              fmt::format("The time in which {} copies as many bytes as must at least be read and "
                          "written, from memory to memory. The factors are multiples of it; below "
                          "1 where the tables stay in a cache",
                          comparison.on_device ? "the GPU" : "one thread"));
}

// The width of the buttons A and B.
float pins_width() {
  const ImGuiStyle& style = ImGui::GetStyle();
  return ImGui::CalcTextSize("AB").x + 4 * style.FramePadding.x + style.ItemInnerSpacing.x;
}

// The tooltip of an algorithm: a text, and below it the drawing of what it does, which is smaller
// where there is little room beside the row.
void draw_explanation(const std::string& id, const std::string& text) {
  const Drawing* const drawing = drawing_of_sat(id);
  if (!drawing) return tooltip(text);
  if (!wants_tooltip()) return;
  const ImGuiStyle& style = ImGui::GetStyle();
  const ImGuiViewport& window = *ImGui::GetMainViewport();
  const float left = ImGui::GetItemRectMax().x + style.ItemSpacing.x;
  const float width = window.WorkPos.x + window.WorkSize.x - left - 2 * style.WindowPadding.x;
  const float above = ImGui::CalcTextSize(text.c_str(), nullptr, false, width).y +
                      style.ItemSpacing.y + 2 * style.WindowPadding.y;
  constexpr float height_of_texts = 11;
  const float scale =
      std::max(0.1f, std::min({ImGui::GetFontSize() / height_of_texts, width / drawing->size().x,
                               (window.WorkSize.y - above) / drawing->size().y}));
  const ImVec2 size{drawing->size().x * scale, drawing->size().y * scale};
  const float lowest = window.WorkPos.y + window.WorkSize.y - above - size.y;
  ImGui::SetNextWindowPos(
      {left, std::max(window.WorkPos.y, std::min(ImGui::GetItemRectMin().y, lowest))});
  ImGui::BeginTooltip();
  ImGui::PushTextWrapPos(ImGui::GetCursorPosX() + width);
  ImGui::TextUnformatted(text.c_str());
  ImGui::PopTextWrapPos();
  drawing->draw(ImGui::GetCursorScreenPos(), scale);
  ImGui::Dummy(size);
  ImGui::EndTooltip();
}

class SatPanel final : public Panel {
 public:
  SatPanel() : Panel("SAT algorithms", false) {}

  void draw(PanelContext& context) override;
  void begin(PanelContext& context) override;  // alternates the pinned ones
  bool handle_key(const Screen::Press& press, PanelContext& context) override;
  void note_times(const History& history, const LiveResult& last) override;

 private:
  // A to B, B to A. Returns true if that has changed the algorithm.
  bool switch_algorithm(LiveSettings& settings, const LiveResult& last) const;
  bool draw_rows(const std::vector<SatFacts>& sats, const Comparison& comparison,
                 const std::string& in_use, LiveSettings* settings);
  bool draw_row(const SatRow& row, const Comparison& comparison, bool in_use, bool can_be_used);
  void draw_pins(const std::string& id);

  std::vector<SatFacts> cpu_sats_ = cpu_sat_facts();
  SatPair pair_;
};

void SatPanel::draw(PanelContext& context) {
  const LiveResult& last = context.result;
  LiveSettings& settings = context.choices.settings;
  Wishes& wishes = context.wishes;
  const std::string on_device = sat_in_use(settings, last);
  const bool is_current = context.comparison && context.comparison->on_device != on_device.empty();
  const Comparison shown = is_current ? *context.comparison : Comparison{};
  const bool can_begin = shown.running.empty() && last.frame.picture.pixels.data;
  if (draw_button("time all on this frame", can_begin,
                  "Runs every algorithm several times on the frame that is shown now, and ranks "
                  "them by their median time. Detection goes on meanwhile, with pauses"))
    wishes.comparison = true;
  if (const std::size_t count = context.source.count; count > 1) {
    ImGui::SameLine();
    const std::size_t chosen = std::min(count, LiveComparison::most_pictures);
    if (draw_button(
            fmt::format("on {} {}###list", chosen == count ? "all" : "a sample of", chosen).c_str(),
            can_begin,
            "The same on the pictures of the list, of which not more than 64 are taken; of "
            "videos the first frame. What is ranked is the sum of the median times"))
      wishes.list_comparison = true;
  }
  for (const auto& [label, extension, what] :
       {std::tuple{"save CSV", "csv", "a line for each, for spreadsheets"},
        {"save HTML", "html", "as a page with a chart, a table and what is known of each"}}) {
    if (label != std::string_view("save CSV")) ImGui::SameLine();
    if (draw_button(label, shown.running.empty() && !shown.ranks.empty(),
                    fmt::format("Saves the times of all algorithms: {}", what)))
      context.saving.save_comparison(shown, extension);
  }
  draw_progress(shown, shown.pictures != 1 || shown.source == last.frame.source ||
                           shown.source_name == last.frame.name);
  draw_measured_frame(shown);
  const std::vector<SatFacts>& gpu_sats = context.machine.sats;
  if (!on_device.empty()) {
    wishes.settings |= draw_rows(gpu_sats, shown, on_device, &settings);
    ImGui::Separator();
    if (draw_pair(pair_, on_device)) wishes.settings |= switch_algorithm(settings, last);
    return;
  }
  draw_rows(cpu_sats_, shown, lab::id_backend, nullptr);
  ImGui::Separator();
  if (gpu_sats.empty())
    return draw_remark("This program is built without CUDA, so it has no algorithms for GPUs.");
  if (ImGui::TreeNode("gpu", "%zu algorithms for GPUs", gpu_sats.size())) {
    draw_remark(
        "Not measured here: microseconds for a table of 1920 x 1080 on an NVIDIA H200 or H100, as "
        "the documentation has them.");
    draw_rows(gpu_sats, {}, "", nullptr);
    ImGui::TreePop();
  }
}

// settings: null if the algorithms cannot be chosen.
bool SatPanel::draw_rows(const std::vector<SatFacts>& sats, const Comparison& comparison,
                         const std::string& in_use, LiveSettings* settings) {
  bool changed = false;
  for (const SatRow& row : rows_of(sats, comparison))
    if (draw_row(row, comparison, row.facts.id == in_use, settings != nullptr) && settings)
      changed |= use_sat(row.facts.id, *settings);
  return changed;
}

// The id and, in a line below it, the bar, or else what the algorithm is. Returns true if it is
// clicked.
bool SatPanel::draw_row(const SatRow& row, const Comparison& comparison, bool in_use,
                        bool can_be_used) {
  const auto& [facts, rank] = row;
  const bool has_bar = rank && rank->failure.empty();
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, line = ImGui::GetTextLineHeight();
  const std::string time =
      can_be_used || facts.documented_us == 0 ? "" : fmt::format("{:g} us; ", facts.documented_us);
  const std::string text = shortened(
      rank ? rank->failure
           : fmt::format("{}{}; {}; {}", time, facts.title, facts.authors, traffic_text(facts)),
      width);
  const float pins = pins_width();
  const float below = corner.y + line + ImGui::GetStyle().ItemInnerSpacing.y;
  ImGui::PushStyleVar(ImGuiStyleVar_DisabledAlpha, 1);  // as readable as the others
  const bool clicked = ImGui::Selectable(
      facts.id.c_str(), in_use,
      ImGuiSelectableFlags_AllowItemOverlap |
          (can_be_used ? ImGuiSelectableFlags_None : ImGuiSelectableFlags_Disabled),
      {width, below - corner.y + line});
  ImGui::PopStyleVar();
  const ImVec2 after = ImGui::GetCursorScreenPos();
  const bool is_different = has_bar && !rank->identical;
  ImGui::GetWindowDrawList()->AddText(
      {corner.x + ImGui::CalcTextSize(facts.id.c_str()).x + line / 2, corner.y},
      ImGui::GetColorU32(is_different ? ImGuiCol_Text : ImGuiCol_TextDisabled),
      is_different ? "DIFFERENT"
      : in_use     ? "in use"
                   : "");
  if (ImGui::GetMousePos().y >= below || ImGui::GetMousePos().x < corner.x + width - pins)
    draw_explanation(
        facts.id,
        fmt::format("{}{}\n{}{}{}", facts.id, in_use ? ", in use" : "", explanation_of(facts),
                    rank ? fmt::format("\n{}", measured_text(*rank, comparison)) : "",
                    can_be_used && !in_use ? "\nClick to use it" : ""));
  if (can_be_used) {
    ImGui::SetCursorScreenPos({corner.x + width - pins, corner.y});
    draw_pins(facts.id);
  }
  ImGui::SetCursorScreenPos({corner.x, below});
  if (has_bar)
    draw_sat_bar(*rank, comparison, in_use);
  else
    ImGui::GetWindowDrawList()->AddText(
        {corner.x, below}, ImGui::GetColorU32(rank ? ImGuiCol_Text : ImGuiCol_TextDisabled),
        text.c_str());
  ImGui::SetCursorScreenPos(after);
  return clicked;
}

void SatPanel::draw_pins(const std::string& id) {
  ImGui::PushID(id.c_str());
  for (const auto& [side, label] : {std::pair{SatPair::a, "A"}, std::pair{SatPair::b, "B"}}) {
    if (side == SatPair::b) ImGui::SameLine(0, ImGui::GetStyle().ItemInnerSpacing.x);
    const bool is_pinned = pair_.id(side) == id;
    if (is_pinned)
      ImGui::PushStyleColor(ImGuiCol_Button, ImGui::GetColorU32(ImGuiCol_ButtonActive));
    if (ImGui::SmallButton(label)) pair_.pin(side, id);
    if (is_pinned) ImGui::PopStyleColor();
    tooltip(
        fmt::format("{} this algorithm as {}, one of two whose times on the live frames are "
                    "shown side by side below",
                    is_pinned ? "Unpins" : "Pins", label));
  }
  ImGui::PopID();
}

bool SatPanel::switch_algorithm(LiveSettings& settings, const LiveResult& last) const {
  const std::string in_use = sat_in_use(settings, last);
  return !in_use.empty() && use_sat(pair_.next(in_use), settings);
}

void SatPanel::begin(PanelContext& context) {
  LiveSettings& settings = context.choices.settings;
  const std::string in_use = sat_in_use(settings, context.result);
  if (!in_use.empty() && use_sat(pair_.due(in_use, context.now), settings))
    context.wishes.settings = true;
}

bool SatPanel::handle_key(const Screen::Press& press, PanelContext& context) {
  if (press.ctrl || press.key != 'X') return false;
  if (switch_algorithm(context.choices.settings, context.result)) context.wishes.settings = true;
  return true;
}

void SatPanel::note_times(const History& history, const LiveResult& last) {
  if (!last.sat.empty()) pair_.keep(last.sat, SatPair::times_of(history), last.any_sat);
}

}  // namespace

std::unique_ptr<Panel> make_sat_panel() {
  return std::make_unique<SatPanel>();
}

}  // namespace facesat::app
