// The panel of what is shown in place of the frame, over it and around it.
#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include <imgui.h>
#include <nlohmann/json.hpp>

#include "app/live/gui/widgets.hpp"
#include "app/live/panels/panel.hpp"
#include "app/live/panels/reading.hpp"
#include "app/live/panels/view_parts.hpp"
#include "cascades/cascade_store.hpp"

namespace facesat::app {
namespace {

using Json = nlohmann::ordered_json;

// A picture that can be chosen: the frame itself, or a step of the detector.
struct Choice {
  const char* name;
  std::optional<Snapshot> picture;
  const char* meaning;
  bool filtered = false;
};
constexpr std::array<Choice, 7> pictures{
    {{"the frame", std::nullopt, "The picture as it comes from the source"},
     {"grey image", Snapshot::gray,
      "What the detector works on: it sees no colours. With 'equalise', after that"},
     {"level of the pyramid", Snapshot::level,
      "The grey image, made smaller. The detector's window always has the same few pixels, so it "
      "finds small faces in large levels and large faces in small ones"},
     {"sums", Snapshot::sum,
      "The integral image (summed area table): every pixel holds the sum of all pixels above and "
      "to the left. Four of them give the sum of any rectangle"},
     {"sums of squares", Snapshot::squared_sum,
      "The integral image of the squared pixels. With the sums it gives the variance of a window, "
      "by which the detector compensates for dark and pale light"},
     {"stages passed", Snapshot::depth,
      "How many stages of the first cascade the window around each pixel passes. Most windows fail "
      "early, which makes the detector fast; those that pass all stages are found"},
     {"filtered image", Snapshot::gray,
      "The grey image with a filter applied to it, such as a blur, edges or a threshold. Key: V",
      true}}};

bool is_chosen(const Choice& choice, const Inspection& inspection) {
  return choice.picture == inspection.picture && choice.filtered == inspection.filtered;
}

bool choose_picture(Inspection& inspection) {
  bool changed = false;
  const Choice* shown = pictures.data();
  for (const Choice& choice : pictures)
    if (is_chosen(choice, inspection)) shown = &choice;
  const bool is_open = ImGui::BeginCombo("show", shown->name);
  if (!is_open) tooltip(std::string("The picture on the right. Now: ") + shown->meaning);
  if (!is_open) return false;
  for (const Choice& choice : pictures) {
    if (ImGui::Selectable(choice.name, is_chosen(choice, inspection))) {
      inspection.picture = choice.picture;
      inspection.filtered = choice.filtered;
      changed = true;
    }
    tooltip(choice.meaning);
  }
  ImGui::EndCombo();
  return changed;
}

bool choose_level(Inspection& inspection, int level_count) {
  const bool changed = ImGui::SliderInt("level", &inspection.level, 0, level_count - 1);
  tooltip(
      "Of the pyramid. Level 0 is the largest picture, in which the smallest faces are found; each "
      "further level is smaller by the scale factor, for larger faces");
  return changed;
}

}  // namespace

bool draw_inspection(Inspection& inspection, int level_count, int& opacity) {
  bool changed = choose_picture(inspection);
  const bool has_levels = level_count > 1,
             is_of_levels = inspection.picture && inspection.picture != Snapshot::gray;
  if (has_levels && is_of_levels) {
    changed |= ImGui::Checkbox("the whole atlas", &inspection.atlas);
    tooltip(
        "All levels of the pyramid at once. A GPU keeps them side by side in one picture, the "
        "atlas, so that one integral image serves them all");
  }
  const bool is_one_level = is_of_levels && !inspection.atlas;
  if (has_levels && (is_one_level || inspection.explains))
    changed |= choose_level(inspection, level_count);
  if (inspection.picture && inspection.is_frame()) {
    ImGui::SliderInt("opacity", &opacity, 0, 100, "%d %%");
    tooltip(
        "How much the picture covers the frame. 0 %: only the frame is seen; 50 %: both, one over "
        "the other; 100 %: only the picture");
  }
  return changed;
}

namespace {

Json to_json(const FilterChoice& choice) {
  const PictureFilterSettings& filter = choice.filter;
  return {{"kind", filter_names[static_cast<std::size_t>(filter.kind)]},
          {"radius", filter.radius},
          {"border", name_of(filter.border)},
          {"offset", filter.offset},
          {"algorithm", filter.algorithm},
          {"compared", choice.compared}};
}

// The index of a name in an array of names; an unknown name counts as the value `otherwise`.
template <class Value, class Names>
Value value_of(const std::string& name, const Names& names, Value otherwise) {
  const auto found = std::find(names.begin(), names.end(), name);
  return found == names.end() ? otherwise : static_cast<Value>(found - names.begin());
}

// Algorithms that do not exist any more are ignored by FilterView.
FilterChoice to_filter_choice(const Json& json) {
  FilterChoice choice;
  PictureFilterSettings& filter = choice.filter;
  filter.kind = value_of(json.at("kind").get<std::string>(), filter_names, filter.kind);
  filter.radius = std::clamp(json.at("radius").get<int>(), 1, largest_radius(filter.kind));
  filter.border = value_of(json.at("border").get<std::string>(), border_names, filter.border);
  filter.offset = std::clamp(json.at("offset").get<int>(), -largest_offset, largest_offset);
  filter.algorithm = json.at("algorithm").get<std::string>();
  choice.compared = json.at("compared").get<std::string>();
  return choice;
}

class ViewPanel final : public Panel {
 public:
  ViewPanel() : Panel("View", false) {}
  void draw(PanelContext& context) override;
  void draw_over(const PanelContext& context) override;
  bool handle_key(const Screen::Press& press, PanelContext& context) override;
  void remember(const Remembered& choices, Json& file) const override;
  void recall(const Json& file, Remembered& choices) override;

 private:
  void draw_looks(PanelContext& context);
  void reset(PanelContext& context);

  FeatureExplorer explorer_;
  int opacity_ = 100;  // of an intermediate picture over the frame, in percent
};

void ViewPanel::draw(PanelContext& context) {
  LiveSettings& settings = context.choices.settings;
  Inspection& inspection = settings.inspection;
  bool changed = draw_inspection(inspection, context.result.level_count, opacity_);
  if (inspection.filtered) changed |= draw_filter(settings.filter, context.result, context.history);
  changed |= explorer_.draw_panel(inspection, context.result);
  context.view.set_opacity(static_cast<float>(opacity_) / 100);
  context.wishes.settings |= changed;
  ImGui::Separator();
  draw_looks(context);
  if (ImGui::Button("reset all settings")) reset(context);
  tooltip("Detection, view and theme as at the first start");
}

void ViewPanel::draw_looks(PanelContext& context) {
  Remembered& choices = context.choices;
  ImGui::Checkbox("labels: neighbours | score", &choices.labels);
  tooltip(
      "At each box that is wide enough, how many similar windows were merged into the face, and "
      "the "
      "largest sum that one of them reached in the last stage of the cascade. Key: L");
  if (ImGui::Button("fit")) context.view.fit();
  tooltip("As large as the whole picture fits. Key: F");
  ImGui::SameLine();
  if (ImGui::Button("1:1")) context.view.one_to_one();
  tooltip("One pixel of the picture per pixel of the screen. Key: 1");
  ImGui::SameLine();
  ImGui::Checkbox("dark", &choices.dark);
  tooltip("Light letters on a dark ground, or the reverse. Key: T");
  ImGui::SliderInt("font", &choices.font_size, Screen::smallest_font, Screen::largest_font,
                   "%d px");
  tooltip("The size of the letters, and of all controls. Ctrl+plus, Ctrl+minus");
}

void ViewPanel::reset(PanelContext& context) {
  const Remembered& before = context.choices;
  Remembered first;
  first.settings.cascades.emplace_back(default_cascade_name);
  first.window = before.window;
  first.recent = before.recent;
  context.choices = first;
  context.wishes.settings = true;
  explorer_ = {};
  opacity_ = 100;
}

void ViewPanel::draw_over(const PanelContext& context) {
  explorer_.draw_over(context.view, context.result);
  draw_readings(context.view, context.result);
}

void toggle_filter(PanelContext& context) {
  Inspection& inspection = context.choices.settings.inspection;
  inspection.filtered = !inspection.filtered;
  inspection.picture.reset();
  if (inspection.filtered) inspection.picture = Snapshot::gray;
  context.wishes.settings = true;
}

bool ViewPanel::handle_key(const Screen::Press& press, PanelContext& context) {
  if (press.ctrl) return false;
  Remembered& choices = context.choices;
  switch (press.key) {
    case 'F':
      context.view.fit();
      return true;
    case '1':
      context.view.one_to_one();
      return true;
    case 'L':
      choices.labels = !choices.labels;
      return true;
    case 'V':
      toggle_filter(context);
      return true;
    case 'T':
      choices.dark = !choices.dark;
      return true;
    default:
      return false;
  }
}

void ViewPanel::remember(const Remembered& choices, Json& file) const {
  file["filter"] = to_json(choices.settings.filter);
  file["dark"] = choices.dark;
  file["labels"] = choices.labels;
  file["font_size"] = choices.font_size;
}

void ViewPanel::recall(const Json& file, Remembered& choices) {
  if (file.contains("filter")) choices.settings.filter = to_filter_choice(file.at("filter"));
  choices.dark = file.at("dark").get<bool>();
  choices.labels = file.at("labels").get<bool>();
  choices.font_size = file.value("font_size", choices.font_size);
}

}  // namespace

std::unique_ptr<Panel> make_view_panel() {
  return std::make_unique<ViewPanel>();
}

}  // namespace facesat::app
