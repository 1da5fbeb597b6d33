// The panel of all settings of detection.
#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <imgui.h>
#include <imgui_stdlib.h>
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

struct Preset {
  const char *name, *meaning;
  DetectOptions options;
};
const std::array<Preset, 5> presets{{
    {"as OpenCV", "The defaults of OpenCV's detectMultiScale", {}},
    {"fewer false faces", "A face needs more than six similar windows", {.min_neighbors = 6}},
    {"small and faint faces",
     "Finer steps between the sizes, and fewer similar windows are needed",
     {.scale_factor = 1.05, .min_neighbors = 2}},
    {"large faces, fast",
     "Faces of 80 pixels and more, in coarser steps",
     {.scale_factor = 1.2, .min_size = {80, 80}}},
    {"every window",
     "All that passes, at every position, ungrouped",
     {.min_neighbors = 0, .scan = Scan::dense}},
}};

bool draw_presets(DetectOptions& options) {
  const auto is_chosen = [&](const Preset& preset) { return preset.options == options; };
  const auto* const chosen = std::ranges::find_if(presets, is_chosen);
  std::vector<Entry> entries;
  for (const Preset& preset : presets) entries.push_back({preset.name, preset.meaning});
  const auto clicked =
      choose("preset", chosen == presets.end() ? "custom" : chosen->name,
             "Sets all that follows, up to the score. Ctrl+Z undoes a change of settings", entries,
             static_cast<std::size_t>(chosen - presets.begin()));
  if (clicked) options = presets[*clicked].options;
  return clicked.has_value();
}

bool draw_min_score(DetectOptions& options) {
  constexpr double any = std::numeric_limits<double>::lowest();
  bool is_limited = options.min_score != any;
  bool changed = ImGui::Checkbox("score at least", &is_limited);
  if (changed) options.min_score = is_limited ? 0 : any;
  tooltip(
      "Leaves out faces whose score is lower: the largest sum that one of their windows reached in "
      "the last stage. Scores of different cascades cannot be compared");
  ImGui::SameLine();
  ImGui::BeginDisabled(!is_limited);
  double score = is_limited ? options.min_score : 0;
  ImGui::SetNextItemWidth(ImGui::GetFontSize() * 7);
  if (ImGui::InputDouble("##score", &score, 1, 0, "%.2f") && is_limited && std::isfinite(score)) {
    options.min_score = score;
    changed = true;
  }
  ImGui::EndDisabled();
  return changed;
}

bool draw_search(DetectOptions& options) {
  bool changed = draw_presets(options);
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
      "A face needs more similar windows than this. More: fewer false faces; 0: every window that "
      "passes, ungrouped");
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
  return changed | draw_min_score(options);
}

// What the cascades of OpenCV find, by the part of their names that says so.
struct Meaning {
  std::string_view part, meaning;
};
constexpr std::array<Meaning, 12> cascade_meanings{{
    {"frontalcatface", "the face of a cat from the front"},
    {"frontalface", "a human face from the front"},
    {"profileface", "a human face from the side; it looks to the left in the picture"},
    {"eye_tree_eyeglasses", "an eye, also with glasses"},
    {"lefteye", "the left eye, open or closed"},
    {"righteye", "the right eye, open or closed"},
    {"eye", "an open eye"},
    {"smile", "a smiling mouth"},
    {"fullbody", "a person who stands or walks"},
    {"lowerbody", "the legs of a person"},
    {"upperbody", "the head and shoulders of a person"},
    {"plate", "a Russian number plate of a car"},
}};

std::string meaning_of(const std::string& cascade) {
  for (const Meaning& known : cascade_meanings)
    if (cascade.find(known.part) != std::string::npos) return std::string(known.meaning);
  return "";
}

// The list of cascades. Those ticked at first, or when another word is looked for, come first;
// after that it stays as it is, so that nothing moves under the pointer.
class CascadeList {
 public:
  // Returns whether the user has ticked something.
  bool draw(const std::vector<std::string>& cascades, LiveSettings& settings);

 private:
  void sort(const std::vector<std::string>& cascades, const LiveSettings& settings);
  static bool draw_row(const std::string& name, LiveSettings& settings);

  std::string word_;
  std::vector<std::string> all_, shown_;
};

void CascadeList::sort(const std::vector<std::string>& cascades, const LiveSettings& settings) {
  all_ = shown_ = cascades;
  const auto lower = [](std::string text) {
    std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
    return text;
  };
  std::erase_if(shown_, [&, word = lower(word_)](const std::string& name) {
    return lower(name + " " + meaning_of(name)).find(word) == std::string::npos;
  });
  std::stable_partition(shown_.begin(), shown_.end(),
                        [&](const std::string& name) { return settings.has(name); });
}

bool CascadeList::draw_row(const std::string& name, LiveSettings& settings) {
  bool on = settings.has(name);
  const bool was_on = on;
  const bool clicked = ImGui::Checkbox(name.c_str(), &on);
  const std::string meaning = meaning_of(name);
  tooltip(
      fmt::format("{}{}Several can be ticked; the boxes of each have its colour, and each takes "
                  "its own time",
                  meaning, meaning.empty() ? "" : ". "));
  if (was_on) {
    ImGui::SameLine();
    draw_swatch(box_colour(settings.colour_of(name)));
    ImGui::NewLine();
  }
  if (clicked && on) settings.choose(name);
  if (clicked && !on) settings.unchoose(name);
  return clicked;
}

bool CascadeList::draw(const std::vector<std::string>& cascades, LiveSettings& settings) {
  draw_status(fmt::format("cascades: {}", fmt::join(settings.cascades, ", ")),
              "What is looked for");
  ImGui::SetNextItemWidth(-1);
  const bool is_new =
      ImGui::InputTextWithHint("##word", "search: face, eye, cat, plate...", &word_);
  tooltip("Shows only the cascades with this in their name or meaning");
  if (is_new || all_ != cascades) sort(cascades, settings);
  constexpr float rows = 5.5f;  // the last one is cut, which shows that there are more
  ImGui::BeginChild("cascades", {0, rows * ImGui::GetFrameHeightWithSpacing()});
  bool changed = false;
  for (const std::string& name : shown_) changed |= draw_row(name, settings);
  if (shown_.empty()) ImGui::TextDisabled("no cascade has this in its name or meaning");
  ImGui::EndChild();
  return changed;
}

// Eyes and smiles are searched faster, and with fewer false ones, inside faces.
bool draw_inside(LiveSettings& settings) {
  if (settings.cascades.size() < 2) return false;
  std::vector<Entry> entries{{"the whole frame"}};
  std::size_t chosen = 0;
  for (const std::string& name : settings.cascades) {
    if (name == settings.detect.inside_of) chosen = entries.size();
    entries.push_back({"inside " + name});
  }
  const auto clicked =
      choose("search", entries[chosen].name,
             "Where all other cascades search: eyes and smiles are found faster inside faces",
             entries, chosen);
  if (clicked) settings.detect.inside_of = *clicked == 0 ? "" : settings.cascades[*clicked - 1];
  ImGui::BeginDisabled(settings.detect.inside_of.empty());
  bool changed =
      ImGui::Checkbox("only those in which something is found", &settings.detect.only_with_inner);
  ImGui::EndDisabled();
  tooltip(
      "Leaves out what has nothing inside, such as faces without eyes. First choose above inside "
      "of what the others search");
  return changed || clicked.has_value();
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
std::string problem_of(const LiveSettings& settings, Size frame) {
  const Size &low = settings.detect.min_size, &high = settings.detect.max_size;
  if (settings.cascades.empty())
    return "there is nothing to look for: tick at least one of the cascades";
  if (high.width > 0 && high.height > 0 && (low.width > high.width || low.height > high.height))
    return "the smallest face is larger than the largest";
  if (frame.area() > 0 && (low.width > frame.width || low.height > frame.height))
    return "the smallest face is larger than the picture";
  return "";
}

class DetectionPanel final : public Panel {
 public:
  DetectionPanel() : Panel("Detection") {}
  void draw(PanelContext& context) override;
  void remember(const Remembered& choices, Json& file) const override;
  void recall(const Json& file, Remembered& choices) override;

 private:
  CascadeList cascades_;
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
  const std::string problem = problem_of(settings, last.frame.picture.pixels.size);
  draw_status(
      problem.empty() ? fmt::format("{} level{} in the pyramid", last.level_count,
                                    last.level_count == 1 ? "" : "s")
                      : problem,
      "Sizes in which the frame is searched, by the first cascade or the one that is explained",
      !problem.empty());
  changed |= cascades_.draw(context.machine.cascades, settings);
  changed |= draw_inside(settings);
  context.wishes.settings |= changed;
}

void DetectionPanel::remember(const Remembered& choices, Json& file) const {
  const LiveSettings& s = choices.settings;
  remember_fields(backend_fields(), s.backend, file);
  file["cascades"] = s.cascades;
  remember_fields(detection_fields(), s.detect, file);
}

void DetectionPanel::recall(const Json& file, Remembered& choices) {
  LiveSettings& s = choices.settings;
  recall_fields(backend_fields(), s.backend, file);
  s.cascades = file.at("cascades").get<std::vector<std::string>>();
  recall_fields(detection_fields(), s.detect, file);
  if (file.value("inside", false) && !s.cascades.empty())  // as earlier versions wrote it
    s.detect.inside_of = s.cascades.front();
  check(s.detect);
  keep_usable(s);
}

}  // namespace

std::unique_ptr<Panel> make_detection_panel() {
  return std::make_unique<DetectionPanel>();
}

}  // namespace facesat::app
