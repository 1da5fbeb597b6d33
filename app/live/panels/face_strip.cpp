#include "app/live/panels/face_strip.hpp"

#include "app/live/gui/widgets.hpp"
#include "app/live/panels/overlay.hpp"

namespace facesat::app {
namespace {

float side_of_crop() {
  return 4.5f * ImGui::GetFontSize();
}

}  // namespace

float face_strip_height() {
  return side_of_crop() + ImGui::GetStyle().ScrollbarSize + ImGui::GetStyle().ItemSpacing.y;
}

PointedFace draw_face_strip(const Texture& frame, const std::vector<Face>& faces,
                            std::optional<std::size_t> highlighted) {
  PointedFace user;
  const float side = side_of_crop(), gap = ImGui::GetStyle().ItemSpacing.x / 2;
  ImGui::BeginChild("faces", {0, side + ImGui::GetStyle().ScrollbarSize}, false,
                    ImGuiWindowFlags_HorizontalScrollbar);
  if (faces.empty()) ImGui::TextDisabled("no faces");
  ImDrawList& list = *ImGui::GetWindowDrawList();
  for (std::size_t i = 0; i < faces.size(); ++i) {
    ImGui::PushID(static_cast<int>(i));
    if (i > 0) ImGui::SameLine(0, gap);
    if (ImGui::InvisibleButton("face", {side, side})) user.clicked = i;
    if (ImGui::IsItemHovered()) user.pointed = i;
    tooltip("A click zooms to this face; F shows the whole picture");
    if (ImGui::IsItemVisible()) {
      const ImVec2 first = ImGui::GetItemRectMin(), last = ImGui::GetItemRectMax();
      frame.draw(list, faces[i].box, first, last);
      const bool stands_out = i == highlighted || i == user.pointed;
      list.AddRect(first, last, box_colour(faces[i].cascade), 0, 0, stands_out ? 4.0f : 1.5f);
    }
    ImGui::PopID();
  }
  ImGui::EndChild();
  return user;
}

}  // namespace facesat::app
