#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "app/live/gui/widgets.hpp"
#include "app/live/panels/window_parts.hpp"
#include "results/annotate.hpp"

namespace facesat::app {
namespace {

// The labels of one picture, each above its box or, where another label is, below it.
class Labels {
 public:
  explicit Labels(ImDrawList& list) : list_(list) {}

  // Left out where there is no room, unless it must be there. The box is from `first` to `last`.
  void draw(ImVec2 first, ImVec2 last, const std::string& text, ImU32 colour, bool must_be_there) {
    const ImVec2 extent = ImGui::CalcTextSize(text.c_str());
    const bool fits = extent.x <= last.x - first.x;
    for (const float top : {first.y - extent.y - 1, last.y + 1}) {
      const ImVec4 place{first.x, top, first.x + extent.x + 4, top + extent.y};
      const bool is_free =
          fits && std::none_of(taken_.begin(), taken_.end(), [&](const ImVec4& t) {
            return t.x < place.z && place.x < t.z && t.y < place.w && place.y < t.w;
          });
      if (!is_free && !must_be_there) continue;
      taken_.push_back(place);
      list_.AddRectFilled({place.x, place.y}, {place.z, place.w}, IM_COL32(0, 0, 0, 210));
      list_.AddText({place.x + 2, place.y}, colour, text.c_str());
      return;
    }
  }

 private:
  ImDrawList& list_;
  std::vector<ImVec4> taken_;  // left, top, right, bottom
};

float side_of_crop() {
  return 4.5f * ImGui::GetFontSize();
}

}  // namespace

std::optional<std::size_t> face_at(ImVec2 point, const std::vector<Face>& faces) {
  std::optional<std::size_t> smallest;
  for (std::size_t i = 0; i < faces.size(); ++i) {
    const Rect& box = faces[i].box;
    const auto left = static_cast<float>(box.x), top = static_cast<float>(box.y);
    const bool is_inside = point.x >= left && point.x < left + static_cast<float>(box.width) &&
                           point.y >= top && point.y < top + static_cast<float>(box.height);
    if (is_inside && (!smallest || box.width < faces[*smallest].box.width)) smallest = i;
  }
  return smallest;
}

std::string score_text(double score, int decimals) {
  const double unit = std::pow(10, decimals);
  return fmt::format("{:.{}f}", std::round(score * unit) / unit + 0.0,
                     decimals);  // -0.0 + 0.0 is 0.0
}

ImU32 box_colour(std::size_t cascade) {
  const Bgr colour = cascade_colour(cascade);
  return IM_COL32(colour.r, colour.g, colour.b, 255);
}

std::optional<std::size_t> draw_boxes(const PictureView& view, const std::vector<Face>& faces,
                                      const OverlayOptions& options) {
  std::optional<std::size_t> pointed;
  if (const auto point = view.pointed(); point && options.follows_pointer)
    pointed = face_at(*point, faces);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  Labels labels(list);
  for (std::size_t i = 0; i < faces.size(); ++i) {
    const Face& face = faces[i];
    const Rect& box = face.box;
    const bool stands_out = i == pointed || i == options.highlighted;
    const ImVec2 first = view.at(box.x, box.y),
                 last = view.at(box.x + box.width, box.y + box.height);
    list.AddRect(first, last, box_colour(face.cascade), 0, 0, stands_out ? 4.0f : 2.0f);
    if (stands_out || options.labels)
      labels.draw(first, last,
                  fmt::format("{} | {}{}", face.neighbors, score_text(face.score, 1),
                              i == pointed ? options.hint : ""),
                  box_colour(face.cascade), stands_out);
  }
  return pointed;
}

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
