// The panel with the table of faces, and what saves them.
#include <algorithm>
#include <array>
#include <cfloat>
#include <filesystem>
#include <string>
#include <system_error>

#include <fmt/format.h>
#include <imgui.h>

#include "app/live/face_export.hpp"
#include "app/live/gui/widgets.hpp"
#include "app/live/panels/panel.hpp"
#include "app/live/panels/view_parts.hpp"
#include "app/live/panels/window_parts.hpp"

namespace facesat::app {
namespace {

constexpr std::array<Column, 5> face_columns{{
    {"#", "From top to bottom, and from left to right"},
    {"size", "The side of the box in pixels"},
    {"neighb.", "How many similar windows were merged into this face; more are more certain"},
    {"score", "The largest sum that one of these windows reached in the last stage"},
    {"cascade", "The model that found it; each has its own colour",
     ImGuiTableColumnFlags_WidthStretch},
}};

// The folder that files are written into.
std::string folder_of(const Saving& saving) {
  if (!saving.folder().empty()) return saving.folder();
  std::error_code failure;
  const std::filesystem::path path = std::filesystem::current_path(failure);
  return failure ? "the current folder" : path.string();
}

// Boxes are those of the file.
constexpr const char* turned = "First show it upright again: it is rotated or mirrored (M, R)";

// One row.
void draw_face(std::size_t index, PanelContext& context) {
  const LiveResult& result = context.result;
  const Face& face = result.faces[index];
  ImGui::TableNextColumn();
  if (ImGui::Selectable(fmt::format("{}", index + 1).c_str(), index == context.highlighted,
                        ImGuiSelectableFlags_SpanAllColumns))
    context.wishes.clicked_face = index;
  if (ImGui::IsItemHovered()) context.wishes.pointed_face = index;
  tooltip(fmt::format("at ({}, {}), {} x {} pixels; a click zooms to it, Delete rejects it",
                      face.box.x, face.box.y, face.box.width, face.box.height));
  ImGui::TableNextColumn();
  ImGui::Text("%d", face.box.width);
  ImGui::TableNextColumn();
  ImGui::Text("%d", face.neighbors);
  ImGui::TableNextColumn();
  ImGui::TextUnformatted(score_text(face.score, 2).c_str());
  ImGui::TableNextColumn();
  const std::size_t cascade = result.settings.cascade_of_colour(face.cascade);
  const auto& names = result.settings.cascades;
  draw_swatch(box_colour(face.cascade));
  ImGui::TextUnformatted(cascade < names.size() ? names[cascade].c_str() : "");
}

void draw_face_table(PanelContext& context) {
  // Always the same, so that nothing below moves as faces come and go.
  constexpr float rows = 5 + 1;
  const float height = rows * (ImGui::GetTextLineHeight() + 2 * ImGui::GetStyle().CellPadding.y);
  constexpr ImGuiTableFlags flags =
      ImGuiTableFlags_RowBg | ImGuiTableFlags_ScrollY | ImGuiTableFlags_SizingFixedFit;
  if (!begin_table("faces", face_columns, flags, height)) return;
  ImGuiListClipper clipper;
  clipper.Begin(static_cast<int>(context.result.faces.size()));
  while (clipper.Step())
    for (int row = clipper.DisplayStart; row < clipper.DisplayEnd; ++row)
      draw_face(static_cast<std::size_t>(row), context);
  ImGui::EndTable();
}

// How many faces there are, and why there are not more: always one line.
std::string count_text(const LiveResult& result) {
  const Size size = result.frame.picture.pixels.size;
  if (size.area() == 0) return "";
  if (result.evaluated == 0)
    return fmt::format("none: no window fits into {} x {} pixels", size.width, size.height);
  const std::string rejected =
      result.rejected == 0 ? "" : fmt::format("; {} rejected", result.rejected);
  return fmt::format("{} face{}; {} of {} windows passed{}", with_commas(result.faces.size()),
                     result.faces.size() == 1 ? "" : "s", with_commas(result.windows),
                     with_commas(result.evaluated), rejected);
}

class FacesPanel final : public Panel {
 public:
  FacesPanel() : Panel("Faces") {}
  void draw(PanelContext& context) override;
  bool handle_key(const Screen::Press& press, PanelContext& context) override;

 private:
  void draw_rejected(PanelContext& context);
  void draw_saving(PanelContext& context);
  void draw_list_export(PanelContext& context);

  ExportOptions options_;
  std::optional<ListExport> export_;  // while it runs
};

void FacesPanel::draw(PanelContext& context) {
  const bool has_no_cascade = context.source.kind && context.result.settings.cascades.empty();
  draw_status(
      has_no_cascade ? "no cascade is ticked under Detection" : count_text(context.result),
      "Every window of the pyramid is evaluated. Those that pass all stages of a cascade are "
      "joined: similar ones make a face, if there are more than \"neighbours\" (under Detection) "
      "of "
      "them",
      has_no_cascade);
  draw_face_table(context);
  draw_saving(context);
  draw_rejected(context);
}

// The face under the pointer, in the picture or in the table, is none: from now on, it is left out
// of all that is drawn and saved.
bool FacesPanel::handle_key(const Screen::Press& press, PanelContext& context) {
  if (press.key != Screen::delete_key || press.ctrl) return false;
  const LiveResult& result = context.result;
  if (!context.highlighted || *context.highlighted >= result.faces.size()) return true;
  std::vector<RejectedFace>& rejected = context.choices.settings.rejected;
  const RejectedFace face = rejected_face(result.faces[*context.highlighted], result, result.frame);
  if (std::ranges::find(rejected, face) == rejected.end()) rejected.push_back(face);
  return context.wishes.settings = true;
}

void FacesPanel::draw_rejected(PanelContext& context) {
  std::vector<RejectedFace>& rejected = context.choices.settings.rejected;
  if (rejected.empty()) return;
  if (ImGui::Button(fmt::format("restore {} rejected###restore", rejected.size()).c_str())) {
    rejected.clear();
    context.wishes.settings = true;
  }
  tooltip("All faces that were rejected, in all pictures, are shown and saved again");
}

void FacesPanel::draw_saving(PanelContext& context) {
  const LiveResult& result = context.result;
  options_.folder = context.saving.folder();
  const Capture::State& state = context.source;
  ImGui::Checkbox("crops", &options_.crops);
  tooltip("Saves a picture of each face, too");
  ImGui::SameLine();
  ImGui::Checkbox("boxes", &options_.boxes);
  tooltip("Saves the whole picture with boxes around its faces, too, in its own size");
  ImGui::SameLine();
  ImGui::SetNextItemWidth(-FLT_MIN);
  if (ImGui::BeginCombo("##format", options_.format->title.data())) {
    for (const Format* format : formats())
      if (ImGui::Selectable(format->title.data(), format == options_.format))
        options_.format = format;
    ImGui::EndCombo();
  }
  tooltip(
      "The format of the table, as 'facesat detect' writes it. CSV has a row for each face and for "
      "each picture without faces, and a column of the crops ('--csv-all')");
  if (export_) return draw_list_export(context);
  const bool is_usable = !result.faces.empty() && state.is_upright();
  ImGui::BeginDisabled(!is_usable);
  ImGui::AlignTextToFramePadding();
  ImGui::TextUnformatted("save the faces of");
  ImGui::SameLine();
  if (ImGui::Button(state.kind == FrameSource::Kind::picture ? "this picture" : "this frame") &&
      is_usable)
    context.saving.attempt([&] { return export_faces(result, options_); });
  ImGui::EndDisabled();
  tooltip(!state.is_upright() ? turned
          : result.faces.empty()
              ? state.failed ? "It could not be read" : "There are no faces here"
              : "The faces of what is shown, into a new folder in " + folder_of(context.saving));
  if (state.kind == FrameSource::Kind::picture && state.count == 1) return;
  ImGui::SameLine();
  draw_list_export(context);
}

void FacesPanel::draw_list_export(PanelContext& context) {
  const LiveResult& result = context.result;
  const Capture::State& state = context.source;
  if (export_) {
    OwnProcess& process = export_->process();
    if (ImGui::Button("stop")) process.stop();
    tooltip("Ends the search; what was saved stays");
    ImGui::SameLine();
    ImGui::TextWrapped("%s", process.line().c_str());
    if (const auto end = process.take_end()) {
      context.saving.attempt([&] { return export_->folder(); });
      if (!end->problem.empty()) context.toasts.warn(end->problem);
      export_.reset();
    }
    return;
  }
  const std::string why_not =
      state.is_upright() ? why_not_exportable(state.names, result.settings) : turned;
  const bool is_usable = state.kind && why_not.empty();
  ImGui::BeginDisabled(!is_usable);
  const std::string all = state.count > 1 ? fmt::format("all {}", state.count) : "all frames";
  if (ImGui::Button(all.c_str()) && is_usable)
    context.saving.attempt([&] {
      export_.emplace(context.machine.program, state.names, result.settings, options_);
      return "";
    });
  ImGui::EndDisabled();
  tooltip(
      !why_not.empty()
          ? why_not
          : "The faces of all pictures and of all frames of all videos of the list, by 'facesat "
            "detect' in the background, into a new folder in " +
                folder_of(context.saving));
}

}  // namespace

std::unique_ptr<Panel> make_faces_panel() {
  return std::make_unique<FacesPanel>();
}

}  // namespace facesat::app
