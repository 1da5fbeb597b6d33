#include "app/live/panels/overlay.hpp"

#include <fmt/format.h>

#include "library/io/annotate.hpp"

namespace facesat::app {
namespace {

std::optional<std::size_t> face_at(ImVec2 point, const std::vector<FoundFace>& faces) {
  std::optional<std::size_t> smallest;
  for (std::size_t i = 0; i < faces.size(); ++i) {
    const Rect& box = faces[i].face.box;
    const auto left = static_cast<float>(box.x), top = static_cast<float>(box.y);
    const bool is_inside = point.x >= left && point.x < left + static_cast<float>(box.width) &&
                           point.y >= top && point.y < top + static_cast<float>(box.height);
    if (is_inside && (!smallest || box.width < faces[*smallest].face.box.width)) smallest = i;
  }
  return smallest;
}

// Above the box.
void draw_label(ImDrawList& list, ImVec2 corner, const std::string& text, ImU32 colour) {
  const ImVec2 extent = ImGui::CalcTextSize(text.c_str());
  corner.y -= extent.y + 1;
  list.AddRectFilled(corner, {corner.x + extent.x + 4, corner.y + extent.y},
                     IM_COL32(0, 0, 0, 160));
  list.AddText({corner.x + 2, corner.y}, colour, text.c_str());
}

}  // namespace

ImU32 box_colour(std::size_t cascade) {
  const Bgr colour = cascade_colour(cascade);
  return IM_COL32(colour.r, colour.g, colour.b, 255);
}

std::optional<std::size_t> draw_boxes(const PictureView& view, const std::vector<FoundFace>& faces,
                                      const OverlayOptions& options) {
  std::optional<std::size_t> pointed;
  if (const auto point = view.pointed()) pointed = face_at(*point, faces);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  for (std::size_t i = 0; i < faces.size(); ++i) {
    const auto& [face, cascade] = faces[i];
    const Rect& box = face.box;
    const bool stands_out = i == pointed || i == options.highlighted;
    const ImVec2 first = view.at(box.x, box.y),
                 last = view.at(box.x + box.width, box.y + box.height);
    list.AddRect(first, last, box_colour(cascade), 0, 0, stands_out ? 4.0f : 2.0f);
    const std::string text = fmt::format("{} | {:.1f}", face.neighbors, face.score);
    const bool has_room = ImGui::CalcTextSize(text.c_str()).x <= last.x - first.x;
    if (stands_out || (options.labels && has_room))
      draw_label(list, first, text, box_colour(cascade));
  }
  return pointed;
}

}  // namespace facesat::app
