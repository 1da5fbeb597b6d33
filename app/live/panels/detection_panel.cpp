#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <imgui.h>

#include "app/live/detection/sat_facts.hpp"
#include "app/live/gui/widgets.hpp"
#include "app/live/panels/overlay.hpp"
#include "app/live/panels/panels.hpp"
#include "cascades/cascade_store.hpp"

namespace facesat::app {
namespace {

// A square size, chosen by its side; 0: no limit. 4000 is just the end of the control's range.
bool draw_size(const char* label, Size& size) {
  int side = size.width;
  if (!ImGui::SliderInt(label, &side, 0, 4000, side == 0 ? "any" : "%d",
                        ImGuiSliderFlags_Logarithmic | ImGuiSliderFlags_AlwaysClamp))
    return false;
  size = {side, side};
  return true;
}

}  // namespace

DetectionPanel::DetectionPanel(std::vector<DeviceInfo> devices,
                               std::span<const gpu::SatAlgorithm* const> sats)
    : devices_(std::move(devices)), sats_(sats), cascades_(cascade_names()) {}

bool DetectionPanel::draw(LiveSettings& settings, const LiveResult& last) {
  bool changed = draw_machine(settings.backend);
  ImGui::TextDisabled("on %s%s%s", last.backend.c_str(), last.sat.empty() ? "" : ", ",
                      last.sat.c_str());
  if (!last.message.empty()) draw_warning(last.message);
  changed |= draw_search(settings.detect);
  const Size &low = settings.detect.min_size, &high = settings.detect.max_size;
  if (high.width > 0 && high.height > 0 && (low.width > high.width || low.height > high.height))
    draw_warning("the smallest face is larger than the largest, so nothing can be found");
  if (settings.cascades.empty())
    draw_warning("there is nothing to look for: tick at least one of the cascades");
  changed |= draw_cascades(settings);
  changed |= draw_inside(settings);
  return changed;
}

bool DetectionPanel::draw_machine(BackendOptions& backend) const {
  // In the order of BackendChoice.
  static constexpr std::array<const char*, 3> names{"auto", "CPU", "CUDA"};
  bool changed = false;
  const auto chosen = static_cast<std::size_t>(backend.choice);
  if (ImGui::BeginCombo("backend", names[chosen])) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      const auto choice = static_cast<BackendChoice>(i);
      const bool is_missing = choice == BackendChoice::cuda && devices_.empty();
      if (ImGui::Selectable(
              names[i], i == chosen,
              is_missing ? ImGuiSelectableFlags_Disabled : ImGuiSelectableFlags_None)) {
        backend.choice = choice;
        if (choice == BackendChoice::cpu) backend.sat.clear();
        changed = true;
      }
      if (is_missing) tooltip("there is no usable GPU: 'facesat info' says why");
    }
    ImGui::EndCombo();
  }
  tooltip("Where faces are detected; both give the same rectangles. auto: CUDA if there is a GPU");
  if (devices_.empty() || backend.choice == BackendChoice::cpu) return changed;
  if (devices_.size() > 1 && ImGui::BeginCombo("device", backend.device.c_str())) {
    for (const DeviceInfo& device : devices_)
      if (ImGui::Selectable(fmt::format("{}: {}", device.id, device.name).c_str())) {
        backend.device = fmt::format("{}", device.id);
        changed = true;
      }
    ImGui::EndCombo();
  }
  if (devices_.size() > 1) tooltip("The GPU that detects");
  if (ImGui::BeginCombo("SAT", backend.sat.empty() ? "the fastest" : backend.sat.c_str())) {
    std::string_view paper;
    for (const gpu::SatAlgorithm* const sat : sats_) {
      const SatFacts facts = facts_of(*sat);
      if (sat->paper != paper) ImGui::TextDisabled("%s", facts.authors.c_str());
      paper = sat->paper;
      if (ImGui::Selectable(facts.id.c_str(), facts.id == backend.sat)) {
        backend.sat = facts.id;
        changed = true;
      }
      tooltip(explanation_of(facts));
    }
    ImGui::EndCombo();
  }
  tooltip(
      "The algorithm for integral images (summed area tables). The faces are the same with each; "
      "the "
      "panel \"SAT algorithms\" shows which is the fastest here");
  return changed;
}

bool DetectionPanel::draw_search(DetectOptions& options) {
  bool changed = false;
  auto factor = static_cast<float>(options.scale_factor);
  if (ImGui::SliderFloat("scale factor", &factor, 1.02f, 2)) {
    // The value used is the rounded one that is shown.
    options.scale_factor = std::round(static_cast<double>(factor) * 1000) / 1000;
    changed = true;
  }
  tooltip(
      "Between the levels of the pyramid, in which faces of other sizes are searched. Smaller: "
      "finer "
      "steps, more faces, more time");
  changed |= ImGui::SliderInt("neighbours", &options.min_neighbors, 0, 20);
  tooltip(
      "Similar windows that a face needs. More: fewer false faces; 0: every window that passes, "
      "ungrouped");
  changed |= draw_size("smallest face", options.min_size);
  tooltip("Its side in pixels of the frame; small faces take most of the time. Ctrl+click to type");
  changed |= draw_size("largest face", options.max_size);
  tooltip("Its side in pixels of the frame. Ctrl+click to type");
  bool dense = options.scan == Scan::dense;
  if (ImGui::Checkbox("dense scan", &dense)) {
    options.scan = dense ? Scan::dense : Scan::opencv;
    changed = true;
  }
  tooltip("Every position of every level, without OpenCV's skip rule");
  ImGui::SameLine();
  changed |= ImGui::Checkbox("equalise", &options.equalize);
  tooltip("Equalise the histogram of the grey image first, for dark or pale pictures");
  return changed;
}

bool DetectionPanel::draw_cascades(LiveSettings& settings) const {
  bool changed = false;
  constexpr float rows = 6.5f;  // the last one is cut, which shows that there are more
  ImGui::TextWrapped("cascades: %s", fmt::format("{}", fmt::join(settings.cascades, ", ")).c_str());
  tooltip("What is looked for");
  ImGui::BeginChild("cascades", {0, rows * ImGui::GetFrameHeightWithSpacing()});
  for (const std::string& name : cascades_) {
    bool on = settings.has(name);
    const bool was_on = on;
    const bool clicked = ImGui::Checkbox(name.c_str(), &on);
    tooltip(
        "Something to look for. Several can be ticked; the boxes of each have its colour, and each "
        "takes its own time");
    if (was_on) {
      ImGui::SameLine();
      draw_swatch(box_colour(settings.colour_of(name)));
      ImGui::NewLine();
    }
    if (!clicked) continue;
    changed = true;
    if (on)
      settings.choose(name);
    else
      settings.unchoose(name);
  }
  ImGui::EndChild();
  return changed;
}

// Eyes and smiles are searched faster, and with fewer false ones, inside faces.
bool DetectionPanel::draw_inside(LiveSettings& settings) {
  if (settings.cascades.size() < 2) return false;
  constexpr const char* everywhere = "the whole frame";
  const std::string& chosen = settings.inside_of;
  bool changed = false;
  const bool is_open =
      ImGui::BeginCombo("search", chosen.empty() ? everywhere : ("inside " + chosen).c_str());
  if (!is_open) {
    tooltip("Where all other cascades search: eyes and smiles are found faster inside faces");
    return false;
  }
  if (ImGui::Selectable(everywhere, chosen.empty())) {
    settings.inside_of.clear();
    changed = true;
  }
  for (const std::string& name : settings.cascades)
    if (ImGui::Selectable(("inside " + name).c_str(), name == chosen)) {
      settings.inside_of = name;
      changed = true;
    }
  ImGui::EndCombo();
  return changed;
}

}  // namespace facesat::app
