// The panel of what is shown in place of the frame, over it and around it.
#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <imgui.h>
#include <imgui_stdlib.h>
#include <nlohmann/json.hpp>

#include "app/live/gui/widgets.hpp"
#include "app/live/panels/panel.hpp"
#include "app/live/panels/sat_parts.hpp"
#include "app/live/panels/start_page.hpp"
#include "app/live/panels/view_parts.hpp"
#include "cascades/cascade_store.hpp"
#include "support/errors.hpp"

namespace facesat::app {
namespace {

using Json = nlohmann::ordered_json;

// A picture that can be chosen: the frame itself, or a step of the detector.
struct Choice : Entry {
  std::optional<Snapshot> picture;
  bool filtered = false;
};
const std::array<Choice, 7> pictures{
    {{{"the frame", "The picture as it comes from the source"}, std::nullopt},
     {{"grey image", "What the detector works on: it sees no colours. With 'equalise', after that"},
      Snapshot::gray},
     {{"level of the pyramid",
       "The grey image, made smaller. The detector's window always has the same few pixels, so it "
       "finds small faces in large levels and large faces in small ones"},
      Snapshot::level},
     {{"sums",
       "The integral image (summed area table): every pixel holds the sum of all pixels above and "
       "to the left. Four of them give the sum of any rectangle"},
      Snapshot::sum},
     {{"sums of squares",
       "The integral image of the squared pixels. With the sums it gives the variance of a window, "
       "by which the detector compensates for dark and pale light"},
      Snapshot::squared_sum},
     {{"stages passed",
       "How many stages of the cascade the window around each pixel passes. Most windows "
       "fail early, which makes the detector fast; those that pass all stages are found"},
      Snapshot::depth},
     {{"filtered image",
       "The grey image with a filter applied to it, such as a blur, edges or a threshold. Key: V"},
      Snapshot::gray,
      true}}};

bool choose_picture(Inspection& inspection) {
  static const std::vector<Entry> entries(pictures.begin(), pictures.end());
  std::size_t shown = 0;
  for (std::size_t i = 0; i < pictures.size(); ++i)
    if (pictures[i].picture == inspection.picture && pictures[i].filtered == inspection.filtered)
      shown = i;
  const auto clicked =
      choose("show", pictures[shown].name,
             "The picture on the right. Now: " + pictures[shown].meaning, entries, shown);
  if (!clicked) return false;
  inspection.picture = pictures[*clicked].picture;
  inspection.filtered = pictures[*clicked].filtered;
  return true;
}

// A control that is disabled where it has no effect, and keeps its place. The keyboard reaches it
// even then: draw(value) is given a copy, and its result counts only if the control is enabled.
// Returns whether the user changed the value.
template <class Value, class Draw>
bool draw_if(bool is_enabled, Value& value, Draw draw) {
  Value copy = value;
  ImGui::BeginDisabled(!is_enabled);
  const bool changed = draw(copy) && is_enabled;
  ImGui::EndDisabled();
  if (changed) value = copy;
  return changed;
}

}  // namespace

bool draw_inspection(Inspection& inspection, int level_count, Opacities& opacities) {
  bool changed = choose_picture(inspection);
  const bool has_levels = level_count > 1,
             is_of_levels = inspection.picture && inspection.picture != Snapshot::gray;
  changed |= draw_if(has_levels && is_of_levels, inspection.atlas,
                     [](bool& atlas) { return ImGui::Checkbox("the whole atlas", &atlas); });
  tooltip(
      "All levels of the pyramid at once. A GPU keeps them side by side in one picture, the "
      "atlas, so that one integral image serves them all");
  const bool is_one_level = is_of_levels && !inspection.atlas;
  if (draw_if(has_levels && (is_one_level || inspection.explains), inspection.level,
              [&](int& level) {
                return ImGui::SliderInt("level", &level, 0, std::max(0, level_count - 1));
              })) {
    inspection.box.reset();  // which has a level of its own
    changed = true;
  }
  tooltip(
      "Of the pyramid. Level 0 is the largest picture, in which the smallest faces are found; each "
      "further level is smaller by the scale factor, for larger faces");
  draw_if(inspection.picture && inspection.is_frame(), opacities.of(inspection),
          [](int& opacity) { return ImGui::SliderInt("opacity", &opacity, 0, 100, "%d %%"); });
  tooltip(
      "How much the picture covers the frame. 0 %: only the frame is seen; 50 %: both, one over "
      "the other; 100 %: only the picture");
  return changed;
}

namespace {

// In the order of FilterKind.
const std::array<Entry, filter_names.size()> kinds{{
    {"box", "The mean of the window around each pixel"},
    {"Gaussian",
     "A weighted mean of the window around each pixel: near pixels count more. Its sigma is the "
     "one that OpenCV takes for the radius"},
    {"Sobel", "Edges: the length of the gradient, which is large where brightness changes"},
    {"adaptive threshold",
     "White where a pixel exceeds the mean of the window around it minus the offset, else black"},
    {"local standard deviation",
     "How much the pixels of the window around each pixel vary; dark where they are alike"},
    {"skewness",
     "Grey where the pixels of the window around each pixel lie evenly about their mean, brighter "
     "where few are much brighter than the others, darker where few are much darker"},
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
  const auto clicked = choose("filter", kinds[chosen].name, kinds[chosen].meaning, kinds, chosen);
  if (!clicked) return false;
  filter.kind = static_cast<FilterKind>(*clicked);
  filter.radius = std::min(filter.radius, largest_radius(filter.kind));
  filter.algorithm.clear();
  choice.compared.clear();
  return true;
}

bool choose_border(Border& border) {
  std::vector<Entry> entries;
  for (std::size_t i = 0; i < border_names.size(); ++i)
    entries.push_back({std::string(border_names[i]), border_meanings[i]});
  const auto chosen = static_cast<std::size_t>(border);
  const auto clicked = choose(
      "border", entries[chosen].name,
      "What stands beyond the edges of the picture, for windows that reach there", entries, chosen);
  if (clicked) border = static_cast<Border>(*clicked);
  return clicked.has_value();
}

// One of these algorithms; the empty one has the name "none". Those that are too slow are listed,
// too.
bool choose_algorithm(const char* label, std::string& algorithm, const char* meaning,
                      const std::vector<std::string>& algorithms,
                      const std::vector<std::string>& too_slow) {
  std::vector<Entry> entries;
  for (const std::string& name : algorithms) entries.push_back({name.empty() ? "none" : name});
  for (const std::string& name : too_slow)
    entries.push_back({name + ", up to smaller radii only",
                       "At this radius it would take seconds for a frame: its time grows with the "
                       "area of the window. 'facesat bench filter' measures it",
                       false});
  const auto chosen = std::find(algorithms.begin(), algorithms.end(), algorithm);
  const auto clicked = choose(label, algorithm.empty() ? "none" : algorithm, meaning, entries,
                              static_cast<std::size_t>(chosen - algorithms.begin()));
  if (clicked) algorithm = algorithms[*clicked];
  return clicked.has_value();
}

bool choose_algorithms(FilterChoice& choice, const FilterResult& result) {
  std::string used = result.shown.algorithm;
  bool changed = choose_algorithm("algorithm", used, "How the filter is computed",
                                  result.algorithms, result.too_slow);
  if (changed) choice.filter.algorithm = used;
  if (result.algorithms.size() + result.too_slow.size() < 2) return changed;
  std::string compared = result.compared ? result.compared->algorithm : "";
  std::vector<std::string> others{""};
  for (const std::string& name : result.algorithms)
    if (name != result.shown.algorithm) others.push_back(name);
  if (choose_algorithm("compare with", compared,
                       "A second algorithm, which runs on each frame, too, so that both times can "
                       "be compared. It is not in the chart of times",
                       others, result.too_slow)) {
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
  void begin(PanelContext& context) override;
  void draw(PanelContext& context) override;
  void draw_over(PanelContext& context) override;
  bool handle_key(const Screen::Press& press, PanelContext& context) override;
  void remember(const Remembered& choices, Json& file) const override;
  void recall(const Json& file, Remembered& choices) override;

 private:
  void draw_looks(PanelContext& context);
  void draw_folder(PanelContext& context);
  void reset(PanelContext& context);
  void undo_reset(PanelContext& context);

  std::optional<Remembered> before_reset_;
  FileDialog dialog_;  // for the folder
  std::string typed_;  // its path
  bool is_typing_ = false;
};

// The folder may have been chosen, typed, remembered, or reset.
void ViewPanel::begin(PanelContext& context) {
  std::string& folder = context.choices.folder;
  if (folder == context.saving.folder()) return;
  try {
    context.saving.use_folder(folder);
  } catch (const OutputError& problem) {
    context.toasts.warn(problem.what());
    folder = context.saving.folder();
  }
}

// Where files are saved.
void ViewPanel::draw_folder(PanelContext& context) {
  if (const auto chosen = dialog_.take()) context.choices.folder = chosen->front();
  if (!is_typing_) typed_ = context.choices.folder;
  const float rest = ImGui::CalcTextSize("save into").x + ImGui::CalcTextSize("...").x +
                     2 * ImGui::GetStyle().FramePadding.x + 2 * ImGui::GetStyle().ItemSpacing.x;
  ImGui::SetNextItemWidth(dialog_.is_available() ? -rest : ImGui::CalcItemWidth());
  ImGui::InputTextWithHint("##folder", "the current folder", &typed_);
  is_typing_ = ImGui::IsItemActive();
  if (ImGui::IsItemDeactivatedAfterEdit()) {
    std::error_code ignored;  // the folder stays the same wherever the program starts next
    context.choices.folder =
        typed_.empty() ? "" : std::filesystem::absolute(with_home(typed_), ignored).string();
  }
  tooltip("The folder that screenshots, recordings, tables and faces are saved into");
  ImGui::SameLine();
  if (dialog_.is_available()) {
    if (ImGui::Button("...")) dialog_.open(Choosing::folder);
    tooltip("Choose the folder");
    ImGui::SameLine();
  }
  ImGui::TextUnformatted("save into");
}

void ViewPanel::draw(PanelContext& context) {
  LiveSettings& settings = context.choices.settings;
  Inspection& inspection = settings.inspection;
  bool changed = draw_inspection(inspection, context.result.level_count, context.choices.opacities);
  changed |= ImGui::Checkbox("explain", &inspection.explains);
  tooltip(
      "How a cascade judges a window: the rectangles of its features, their sums as read from the "
      "integral image, and what follows from them. A click into the picture explains that place");
  ImGui::Separator();
  draw_looks(context);
  draw_folder(context);
  if (ImGui::Button("reset all settings")) reset(context);
  tooltip("Detection, view and theme as at the first start");
  if (before_reset_) {
    ImGui::SameLine();
    if (ImGui::Button("undo")) undo_reset(context);
    tooltip("The settings as they were before they were reset");
  }
  ImGui::Separator();
  // Last, because its rows come and go.
  if (inspection.filtered) changed |= draw_filter(settings.filter, context.result, context.history);
  context.wishes.settings |= changed;
}

void ViewPanel::draw_looks(PanelContext& context) {
  Remembered& choices = context.choices;
  ImGui::Checkbox("labels: neighbours | score", &choices.labels);
  tooltip(
      "At each box that is wide enough, how many similar windows were merged into the face, and "
      "the largest sum that one of them reached in the last stage of the cascade. Key: L");
  if (ImGui::Button("fit")) context.view.fit();
  tooltip("As large as the whole picture fits. Key: F");
  ImGui::SameLine();
  if (ImGui::Button("1:1")) context.view.one_to_one();
  tooltip("One pixel of the picture per pixel of the screen. Key: 1");
  ImGui::SliderInt("font", &choices.font_size, Screen::smallest_font, Screen::largest_font,
                   "%d px");
  tooltip("The size of the letters, and of all controls. Ctrl+plus, Ctrl+minus");
}

void ViewPanel::reset(PanelContext& context) {
  before_reset_ = context.choices;
  Remembered first;
  first.settings.cascades.emplace_back(default_cascade_name);
  first.window = context.choices.window;
  first.recent = context.choices.recent;
  context.choices = first;
  context.wishes.settings = true;
}

void ViewPanel::undo_reset(PanelContext& context) {
  before_reset_->window = context.choices.window;
  before_reset_->recent = context.choices.recent;
  context.choices = *before_reset_;
  context.wishes.settings = true;
  before_reset_.reset();
}

void ViewPanel::draw_over(PanelContext& context) {
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
    default:
      return false;
  }
}

void ViewPanel::remember(const Remembered& choices, Json& file) const {
  file["filter"] = to_json(choices.settings.filter);
  file["dark"] = choices.dark;
  file["labels"] = choices.labels;
  file["font_size"] = choices.font_size;
  file["folder"] = choices.folder;
}

void ViewPanel::recall(const Json& file, Remembered& choices) {
  if (file.contains("filter")) choices.settings.filter = to_filter_choice(file.at("filter"));
  choices.dark = file.at("dark").get<bool>();
  choices.labels = file.at("labels").get<bool>();
  choices.font_size = file.value("font_size", choices.font_size);
  choices.folder = file.value("folder", choices.folder);
}

}  // namespace

std::unique_ptr<Panel> make_view_panel() {
  return std::make_unique<ViewPanel>();
}

}  // namespace facesat::app
