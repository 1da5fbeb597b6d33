// The panel of all settings of detection.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <imgui.h>
#include <nlohmann/json.hpp>

#include "app/common/fields.hpp"
#include "app/live/gui/widgets.hpp"
#include "app/live/panels/panel.hpp"
#include "app/live/panels/sat_parts.hpp"
#include "app/live/panels/window_parts.hpp"
#include "cascades/cascade_store.hpp"
#include "kernels/device/gpu_info.hpp"
#include "kernels/sat/algorithm.hpp"
#include "support/errors.hpp"

namespace facesat::app {
namespace {

using Json = nlohmann::ordered_json;

// A square size, chosen by its side; 0: no limit. 4000 is just the end of the control's range.
bool draw_size(const char* label, Size& size) {
  int side = size.width;
  if (!ImGui::SliderInt(label, &side, 0, 4000, side == 0 ? "any" : "%d",
                        ImGuiSliderFlags_Logarithmic | ImGuiSliderFlags_AlwaysClamp))
    return false;
  size = {side, side};
  return true;
}

// Where faces are detected.
bool draw_backend(const Machine& machine, BackendOptions& backend) {
  const bool has_gpu = !machine.devices.empty();
  const char* const why_not = has_gpu ? "" : "there is no usable GPU: 'facesat info' says why";
  // In the order of BackendChoice.
  const std::array<Entry, 3> entries{{{"auto"}, {"CPU"}, {"CUDA", why_not, has_gpu}}};
  const auto chosen = static_cast<std::size_t>(backend.choice);
  const auto clicked = choose(
      "backend", entries[chosen].name,
      "Where faces are detected; both give the same rectangles. auto: CUDA if there is a GPU",
      entries, chosen);
  if (!clicked) return false;
  backend.choice = static_cast<BackendChoice>(*clicked);
  if (backend.choice == BackendChoice::cpu) backend.sat.clear();
  return true;
}

bool draw_device(const std::vector<DeviceInfo>& devices, BackendOptions& backend) {
  if (devices.size() < 2) return false;
  std::vector<Entry> entries;
  for (const DeviceInfo& device : devices)
    entries.push_back({fmt::format("{}: {}", device.id, device.name)});
  const auto clicked = choose("device", backend.device, "The GPU that detects", entries);
  if (clicked) backend.device = fmt::format("{}", devices[*clicked].id);
  return clicked.has_value();
}

bool draw_sat(const std::vector<SatFacts>& sats, BackendOptions& backend) {
  bool changed = false;
  if (ImGui::BeginCombo("SAT", backend.sat.empty() ? "the fastest" : backend.sat.c_str())) {
    std::string_view paper;
    for (const SatFacts& sat : sats) {
      if (sat.paper != paper) ImGui::TextDisabled("%s", sat.authors.c_str());
      paper = sat.paper;
      if (ImGui::Selectable(sat.id.c_str(), sat.id == backend.sat)) {
        backend.sat = sat.id;
        changed = true;
      }
      tooltip(explanation_of(sat));
    }
    ImGui::EndCombo();
  }
  tooltip(
      "The algorithm for integral images (summed area tables). The faces are the same with each; "
      "the panel \"SAT algorithms\" shows which is the fastest here");
  return changed;
}

bool draw_machine(const Machine& machine, BackendOptions& backend) {
  bool changed = draw_backend(machine, backend);
  if (machine.devices.empty() || backend.choice == BackendChoice::cpu) return changed;
  changed |= draw_device(machine.devices, backend);
  changed |= draw_sat(machine.sats, backend);
  return changed;
}

bool draw_search(DetectOptions& options) {
  bool changed = false;
  auto factor = static_cast<float>(options.scale_factor);
  if (ImGui::SliderFloat("scale factor", &factor, 1.02f, 2, "%.3f", ImGuiSliderFlags_AlwaysClamp)) {
    // The value used is the rounded one that is shown.
    options.scale_factor = std::round(static_cast<double>(factor) * 1000) / 1000;
    changed = true;
  }
  tooltip(
      "Between the levels of the pyramid, in which faces of other sizes are searched. Smaller: "
      "finer steps, more faces, more time");
  changed |= ImGui::SliderInt("neighbours", &options.min_neighbors, 0, 20, "%d",
                              ImGuiSliderFlags_AlwaysClamp);
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

bool draw_cascades(const std::vector<std::string>& cascades, LiveSettings& settings) {
  bool changed = false;
  constexpr float rows = 6.5f;  // the last one is cut, which shows that there are more
  draw_status(fmt::format("cascades: {}", fmt::join(settings.cascades, ", ")),
              "What is looked for");
  ImGui::BeginChild("cascades", {0, rows * ImGui::GetFrameHeightWithSpacing()});
  for (const std::string& name : cascades) {
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
bool draw_inside(LiveSettings& settings) {
  if (settings.cascades.size() < 2) return false;
  std::vector<Entry> entries{{"the whole frame"}};
  std::size_t chosen = 0;
  for (const std::string& name : settings.cascades) {
    if (name == settings.inside_of) chosen = entries.size();
    entries.push_back({"inside " + name});
  }
  const auto clicked =
      choose("search", entries[chosen].name,
             "Where all other cascades search: eyes and smiles are found faster inside faces",
             entries, chosen);
  if (clicked) settings.inside_of = *clicked == 0 ? "" : settings.cascades[*clicked - 1];
  return clicked.has_value();
}

template <class Options>
void remember_fields(const std::vector<Field<Options>>& fields, const Options& options,
                     Json& file) {
  for (const Field<Options>& field : fields)
    visit_value(field, options, [&, key = field.key()](const auto& value) {
      if constexpr (std::is_same_v<std::decay_t<decltype(value)>, Size>)
        file[key] = {value.width, value.height};
      else
        file[key] = value;
    });
}

// Keeps what the file, which may be older than an option, does not have.
template <class Options>
void recall_fields(const std::vector<Field<Options>>& fields, Options& options, const Json& file) {
  for (const Field<Options>& field : fields) {
    const std::string key = field.key();
    if (!file.contains(key)) continue;
    const Json& json = file.at(key);
    const auto set = [&]<class Value>(const Value& value) {
      if constexpr (std::is_same_v<Value, Choice<Options>>)
        value.set(options, std::max(0, value.index_of(json.get<std::string>())));
      else if constexpr (std::is_same_v<Value, Size Options::*>)
        options.*value = {json.at(0).get<int>(), json.at(1).get<int>()};
      else
        json.get_to(options.*value);
    };
    std::visit(set, field.value);
  }
}

// Drops cascades, algorithms and devices that existed when they were chosen and do not exist now.
void keep_usable(LiveSettings& settings) {
  std::erase_if(settings.cascades, [](const std::string& name) {
    try {
      find_cascade(name);
      return false;
    } catch (const Error&) {
      return true;
    }
  });
  BackendOptions& backend = settings.backend;
  const auto devices = gpu::devices();
  if (!gpu::choose_sat(backend.sat).algorithm) backend.sat.clear();
  if (!devices.empty() &&
      std::none_of(devices.begin(), devices.end(), [&](const DeviceInfo& device) {
        return std::to_string(device.id) == backend.device;
      }))
    backend.device = BackendOptions().device;
  if (devices.empty() && backend.choice == BackendChoice::cuda)
    backend.choice = BackendChoice::automatic;
}

// Why nothing can be found with these settings; empty if something can.
std::string problem_of(const LiveSettings& settings) {
  const Size &low = settings.detect.min_size, &high = settings.detect.max_size;
  if (settings.cascades.empty())
    return "there is nothing to look for: tick at least one of the cascades";
  if (high.width > 0 && high.height > 0 && (low.width > high.width || low.height > high.height))
    return "the smallest face is larger than the largest, so nothing can be found";
  return "";
}

class DetectionPanel final : public Panel {
 public:
  DetectionPanel() : Panel("Detection") {}
  void draw(PanelContext& context) override;
  void remember(const Remembered& choices, Json& file) const override;
  void recall(const Json& file, Remembered& choices) override;
};

void DetectionPanel::draw(PanelContext& context) {
  LiveSettings& settings = context.choices.settings;
  const LiveResult& last = context.result;
  bool changed = draw_machine(context.machine, settings.backend);
  const bool has_failed = !last.message.empty();
  draw_status(has_failed
                  ? last.message
                  : fmt::format("on {}{}{}", last.backend, last.sat.empty() ? "" : ", ", last.sat),
              "", has_failed);
  changed |= draw_search(settings.detect);
  const std::string problem = problem_of(settings);
  draw_status(problem.empty() ? fmt::format("{} levels in the pyramid", last.level_count) : problem,
              "Sizes in which the frame is searched, by the first cascade", !problem.empty());
  changed |= draw_cascades(context.machine.cascades, settings);
  changed |= draw_inside(settings);
  context.wishes.settings |= changed;
}

void DetectionPanel::remember(const Remembered& choices, Json& file) const {
  const LiveSettings& s = choices.settings;
  remember_fields(backend_fields(), s.backend, file);
  file["cascades"] = s.cascades;
  remember_fields(detection_fields(), s.detect, file);
  file["inside_of"] = s.inside_of;
}

void DetectionPanel::recall(const Json& file, Remembered& choices) {
  LiveSettings& s = choices.settings;
  recall_fields(backend_fields(), s.backend, file);
  s.cascades = file.at("cascades").get<std::vector<std::string>>();
  recall_fields(detection_fields(), s.detect, file);
  if (file.contains("inside_of"))
    s.inside_of = file.at("inside_of").get<std::string>();
  else if (file.at("inside").get<bool>() && !s.cascades.empty())  // as earlier versions wrote it
    s.inside_of = s.cascades.front();
  check(s.detect);
  keep_usable(s);
}

}  // namespace

std::unique_ptr<Panel> make_detection_panel() {
  return std::make_unique<DetectionPanel>();
}

}  // namespace facesat::app
