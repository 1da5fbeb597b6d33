// The panel that explains a window: the one under the pointer, or that of the face or place that
// was clicked. "How it works" shows the same numbers in six steps.
#include <array>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <imgui.h>

#include "app/live/gui/widgets.hpp"
#include "app/live/panels/features.hpp"
#include "app/live/panels/panel.hpp"
#include "app/live/panels/view_parts.hpp"
#include "app/live/panels/window_parts.hpp"

namespace facesat::app {
namespace {

// A step of "How it works".
struct Lesson {
  const char *title, *sentence;
  std::optional<Snapshot> picture;  // that is shown meanwhile
};
enum LessonName : std::size_t { grey, integral_image, feature, stage, heat_map, merging };
constexpr std::array<Lesson, 6> lessons{
    {{"grey image",
      "The detector sees brightness only, in smaller and smaller copies of the frame (a pyramid): "
      "its window always has the same few pixels, so small copies are searched for large faces.",
      Snapshot::level},
     {"integral image",
      "Each pixel of the integral image (summed area table) holds the sum of all pixels above and "
      "to the left. Four of them give the sum of any rectangle, however large.",
      Snapshot::sum},
     {"feature",
      "A feature compares sums of rectangles: those of the orange ones count for it, those of the "
      "blue ones against it. A weak classifier compares the result with a threshold: eyes, for "
      "instance, are darker than cheeks.",
      std::nullopt},
     {"stage",
      "A stage adds the responses of its weak classifiers. A window whose sum is below the "
      "threshold of the stage is rejected at once; the others go on to the next, stricter stage.",
      std::nullopt},
     {"heat map",
      "This is done for every window of every copy. The colours show, for this level, how many "
      "stages the window around each pixel passes: most fail early, which makes the detector fast.",
      Snapshot::depth},
     {"merging",
      "Around a face several windows pass all stages. Similar ones are merged into one box, their "
      "mean; places where only a few passed are given up.",
      std::nullopt}}};

void draw_boxes_of_windows(const PictureView& view, const std::vector<Rect>& boxes) {
  for (const Rect& box : boxes)
    ImGui::GetWindowDrawList()->AddRect(view.at(box.x, box.y),
                                        view.at(box.x + box.width, box.y + box.height),
                                        IM_COL32(255, 255, 255, 160));
}

constexpr const char* lbp_feature =
    "A feature (local binary pattern) compares the sums of eight blocks with that of the block in "
    "the middle: 1 if a sum is not below it. A weak classifier looks whether this code of eight "
    "bits is in the set that training found.";

class ExplanationPanel final : public Panel {
 public:
  ExplanationPanel() : Panel("Explanation", true, Side::right) {}
  bool is_wanted(const PanelContext& context) const override {
    return context.choices.settings.inspection.explains;
  }
  void begin(PanelContext& context) override;
  void draw(PanelContext& context) override;
  void draw_over(PanelContext& context) override;
  bool handle_key(const Screen::Press& press, PanelContext& context) override;

 private:
  void explain_place(ImVec2 point, PanelContext& context);
  void explain_box(const Rect& box, const std::string& cascade, PanelContext& context);
  void choose_stage(const LiveResult& result);
  void let_go(PanelContext& context);
  void begin_to_explain(Inspection& inspection);
  void end(PanelContext& context);
  void close(PanelContext& context);
  void follow_pointer(PanelContext& context);
  void teach(std::optional<std::size_t> lesson, PanelContext& context);
  std::optional<Explanation> explanation_of(const LiveResult& result) const;

  void draw_buttons(PanelContext& context);
  void draw_lesson(const PanelContext& context, const Explanation& explanation);
  void draw_all(const PanelContext& context, const Explanation& explanation);
  void draw_window(const LiveResult& result, const Explanation& explanation) const;

  FeatureChoice choice_;
  std::optional<ImVec2> point_;    // of the frame: where the window is that follows the pointer
  bool is_held_ = false;           // the window stays there
  std::optional<Rect> explained_;  // the last box
  std::optional<std::size_t> lesson_;
  std::optional<Inspection>
      before_;  // what was shown before the explanation; nullopt: nothing is explained
};

// The panel "View" begins and ends explanations, too.
void ExplanationPanel::begin(PanelContext& context) {
  Inspection& inspection = context.choices.settings.inspection;
  const LiveResult& result = context.result;
  if (inspection.explains && !before_) begin_to_explain(inspection);
  if (!inspection.explains && before_) end(context);
  if (!inspection.box || !result.like_box || result.settings.inspection.box != inspection.box)
    return;
  inspection.level = result.like_box->level;  // as the controls show it
  if (std::exchange(explained_, inspection.box) != inspection.box) choose_stage(result);
}

// The stage that rejects the window, or else the first one.
void ExplanationPanel::choose_stage(const LiveResult& result) {
  choice_ = {};
  const int passed = explain(*result.tables, result.like_box->window, choice_).stages_passed;
  if (passed < static_cast<int>(result.tables->cascade().stages.size())) choice_.stage = passed;
}

void ExplanationPanel::begin_to_explain(Inspection& inspection) {
  before_ = inspection;
  before_->explains = false;
  before_->box.reset();
  inspection.explains = true;
}

// The picture is shown as before, unless all settings were reset.
void ExplanationPanel::end(PanelContext& context) {
  Inspection& inspection = context.choices.settings.inspection;
  if (inspection != Inspection()) inspection = *before_;
  before_.reset();
  lesson_.reset();
  is_held_ = false;
  context.wishes.settings = true;
}

// A face, or else a square around the point.
void ExplanationPanel::explain_place(ImVec2 point, PanelContext& context) {
  const LiveResult& result = context.result;
  if (const auto index = face_at(point, result.faces)) {
    const Face& face = result.faces[*index];
    const std::size_t cascade = result.settings.cascade_of_colour(face.cascade);
    const auto& names = result.settings.cascades;
    return explain_box(face.box, cascade < names.size() ? names[cascade] : "", context);
  }
  const Size size = result.frame.picture.pixels.size;
  const int side = std::max(1, std::min(size.width, size.height) / 5);
  explain_box(
      {static_cast<int>(point.x) - side / 2, static_cast<int>(point.y) - side / 2, side, side},
      context.choices.settings.inspection.cascade, context);
}

void ExplanationPanel::explain_box(const Rect& box, const std::string& cascade,
                                   PanelContext& context) {
  Inspection& inspection = context.choices.settings.inspection;
  if (!inspection.explains) {
    begin_to_explain(inspection);
    inspection.picture = Snapshot::depth;
    inspection.atlas = inspection.filtered = false;
  }
  inspection.box = box;
  inspection.cascade = cascade;
  context.wishes.settings = true;
}

// The window follows the pointer again, on the same level.
void ExplanationPanel::let_go(PanelContext& context) {
  is_held_ = false;
  context.choices.settings.inspection.box.reset();
  context.wishes.settings = true;
}

void ExplanationPanel::close(PanelContext& context) {
  context.choices.settings.inspection.explains = false;
  end(context);
}

void ExplanationPanel::follow_pointer(PanelContext& context) {
  const PictureView& view = context.view;
  const Inspection& inspection = context.choices.settings.inspection;
  if (view.pointed() && !is_held_) point_ = view.pointed();
  const auto clicked = view.clicked_once();
  if (!clicked) return;
  const auto face = face_at(*clicked, context.result.faces);
  const bool is_another_face = face && inspection.box != context.result.faces[*face].box;
  if (!inspection.explains || is_another_face)
    explain_place(*clicked, context);
  else if (inspection.box || is_held_)
    let_go(context);
  else
    is_held_ = true;
}

bool ExplanationPanel::handle_key(const Screen::Press& press, PanelContext& context) {
  if (press.key != Screen::escape || !is_wanted(context)) return false;
  close(context);
  return true;
}

// nullopt: no longer in steps.
void ExplanationPanel::teach(std::optional<std::size_t> lesson, PanelContext& context) {
  lesson_ = lesson;
  Inspection& inspection = context.choices.settings.inspection;
  inspection.picture = lesson ? lessons[*lesson].picture : Snapshot::depth;
  inspection.atlas = inspection.filtered = false;
  context.wishes.settings = true;
}

std::optional<Explanation> ExplanationPanel::explanation_of(const LiveResult& result) const {
  if (!result.tables || !result.view_is_frame) return std::nullopt;
  if (result.like_box) return explain(*result.tables, result.like_box->window, choice_);
  if (!point_) return std::nullopt;
  return explain(*result.tables, result.tables->window_around(point_->x, point_->y), choice_);
}

void ExplanationPanel::draw_over(PanelContext& context) {
  const LiveResult& result = context.result;
  if (!result.view_is_frame) return;
  follow_pointer(context);
  if (!result.tables) return;
  choice_ = choice_.within(result.tables->cascade());
  const auto explanation = explanation_of(result);
  if (!explanation) return;
  if (lesson_ == merging && result.like_box)
    return draw_boxes_of_windows(context.view, result.like_box->merged);
  draw_window_outline(context.view, *result.tables, *explanation);
  if (lesson_ != grey && lesson_ != heat_map)
    draw_feature(context.view, *result.tables, *explanation, choice_.rectangle);
}

void ExplanationPanel::draw_buttons(PanelContext& context) {
  if (!lesson_) {
    if (ImGui::Button("How it works")) teach(grey, context);
    tooltip("From the frame to the face, in six steps, with the numbers of this window");
  } else {
    ImGui::BeginDisabled(*lesson_ == 0);
    if (ImGui::Button("Back") && *lesson_ > 0) teach(*lesson_ - 1, context);
    ImGui::EndDisabled();
    ImGui::SameLine();
    const bool is_last = *lesson_ + 1 == lessons.size();
    ImGui::BeginDisabled(is_last);
    if (ImGui::Button("Next") && !is_last) teach(*lesson_ + 1, context);
    ImGui::EndDisabled();
    ImGui::SameLine();
    if (ImGui::Button("All numbers")) teach(std::nullopt, context);
  }
  ImGui::SameLine();
  if (ImGui::Button("Close")) close(context);
  tooltip("Back to the picture as it was. Key: Esc");
}

void ExplanationPanel::draw(PanelContext& context) {
  const LiveResult& result = context.result;
  draw_buttons(context);
  if (lesson_) {
    const Lesson& lesson = lessons[*lesson_];
    ImGui::Text("%zu of %zu: %s", *lesson_ + 1, lessons.size(), lesson.title);
    const bool is_lbp = result.tables && result.tables->cascade().kind == FeatureKind::lbp;
    ImGui::TextWrapped("%s", lesson_ == feature && is_lbp ? lbp_feature : lesson.sentence);
    ImGui::Separator();
  }
  if (!result.tables)
    return ImGui::TextWrapped(
        "%s", result.settings.cascades.empty() ? "No cascade is ticked under Detection."
              : result.level_count == 0        ? "The frame is smaller than the cascade's window."
                                               : "The next frame will be explained.");
  if (!result.view_is_frame)
    return ImGui::TextWrapped(
        "The window is drawn over the frame and over single levels, not over the atlas.");
  choice_ = choice_.within(result.tables->cascade());
  const auto explanation = explanation_of(result);
  if (!explanation)
    return ImGui::TextWrapped("Move the pointer over the picture, or click a face.");
  if (lesson_)
    draw_lesson(context, *explanation);
  else
    draw_all(context, *explanation);
}

// Which window the numbers are of.
void ExplanationPanel::draw_window(const LiveResult& result, const Explanation& explanation) const {
  const LevelTables& tables = *result.tables;
  const Size window = tables.cascade().window;
  ImGui::TextWrapped("%d x %d pixels at (%d, %d) of level %d, %.0f x %.0f in the frame%s",
                     window.width, window.height, explanation.window.x, explanation.window.y,
                     tables.index(), window.width * tables.across(), window.height * tables.down(),
                     result.like_box || is_held_ ? "; held" : "");
  tooltip(
      "The window that is explained. It follows the pointer from one position where the detector "
      "looks to the next. A click holds it, on a face at the window most like its box; another "
      "click lets it go");
}

void draw_verdict(const LiveResult& result, const Explanation& explanation) {
  const Cascade& cascade = result.tables->cascade();
  const std::size_t stages = cascade.stages.size();
  const bool passes = explanation.stages_passed == static_cast<int>(stages);
  ImGui::TextWrapped(
      "%s", passes ? fmt::format("Passes all {} stages of {}.", stages, cascade.name).c_str()
                   : fmt::format("Rejected by stage {} of {} of {}.", explanation.stages_passed + 1,
                                 stages, cascade.name)
                         .c_str());
}

void draw_merging(const LiveResult& result) {
  if (!result.like_box || result.like_box->merged.empty())
    return ImGui::TextWrapped("No window passes here. Click a face.");
  if (result.settings.detect.min_neighbors == 0)
    return ImGui::TextWrapped(
        "Nothing is merged: with 0 neighbours, every window that passes is a face.");
  ImGui::TextWrapped("%zu similar windows passed here (neighbours); a face needs more than %d.",
                     result.like_box->merged.size(), result.settings.detect.min_neighbors);
  const auto face = std::ranges::find(result.faces, result.settings.inspection.box,
                                      [](const Face& one) { return std::optional(one.box); });
  if (face != result.faces.end())
    ImGui::TextWrapped(
        "The box has the label \"%d | %s\": the neighbours, and the score, which is the largest "
        "sum "
        "that one of them reached in the last stage.",
        face->neighbors, score_text(face->score, 1).c_str());
}

void ExplanationPanel::draw_lesson(const PanelContext& context, const Explanation& explanation) {
  const LiveResult& result = context.result;
  const LevelTables& tables = *result.tables;
  switch (static_cast<LessonName>(*lesson_)) {
    case grey:
      draw_window(result, explanation);
      return ImGui::TextWrapped(
          "Level %d (of 0 to %d) has %d x %d pixels; each is %.2f pixels of the frame wide.",
          tables.index(), result.level_count - 1, tables.level().size.width,
          tables.level().size.height, tables.across());
    case integral_image:
      return draw_corner_table(explanation, choice_);
    case feature:
      choose_feature(tables.cascade(), choice_);
      draw_rectangles(tables, explanation, choice_);
      return draw_node_test(tables, explanation, choice_);
    case stage:
      choose_feature(tables.cascade(), choice_);
      return draw_stage_test(tables, explanation, choice_);
    case heat_map:
      draw_verdict(result, explanation);
      return ImGui::TextWrapped(
          "%s of %s windows of the frame pass all stages%s.", with_commas(result.windows).c_str(),
          with_commas(result.evaluated).c_str(),
          result.settings.cascades.size() > 1 ? ", all cascades together" : "");
    case merging:
      return draw_merging(result);
  }
}

void ExplanationPanel::draw_all(const PanelContext& context, const Explanation& explanation) {
  const LevelTables& tables = *context.result.tables;
  draw_window(context.result, explanation);
  draw_verdict(context.result, explanation);
  if (context.result.like_box) draw_merging(context.result);
  ImGui::Separator();
  choose_feature(tables.cascade(), choice_);
  draw_rectangles(tables, explanation, choice_);
  draw_corner_table(explanation, choice_);
  draw_node_test(tables, explanation, choice_);
  draw_stage_test(tables, explanation, choice_);
}

}  // namespace

std::unique_ptr<Panel> make_explanation_panel() {
  return std::make_unique<ExplanationPanel>();
}

}  // namespace facesat::app
