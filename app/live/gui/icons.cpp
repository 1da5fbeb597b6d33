#include "app/live/gui/icons.hpp"

#include <imgui.h>

namespace facesat::app {
namespace {

// Draws shapes into a square. Positions are fractions of its side, from its upper left corner.
class Pen {
 public:
  Pen(ImVec2 corner, float side)
      : list_(*ImGui::GetWindowDrawList()),
        corner_(corner),
        side_(side),
        colour_(ImGui::GetColorU32(ImGuiCol_Text)) {}

  void bar(float left, float right) const {
    list_.AddRectFilled(at(left, 0.28f), at(right, 0.72f), colour_);
  }
  // A triangle whose tip points to the side where `tip` is.
  void triangle(float base, float tip) const {
    list_.AddTriangleFilled(at(base, 0.26f), at(base, 0.74f), at(tip, 0.5f), colour_);
  }

 private:
  ImVec2 at(float x, float y) const { return {corner_.x + x * side_, corner_.y + y * side_}; }

  ImDrawList& list_;
  ImVec2 corner_;
  float side_;
  ImU32 colour_;
};

void draw(Icon icon, const Pen& pen) {
  switch (icon) {
    case Icon::previous:
      pen.bar(0.24f, 0.31f);
      return pen.triangle(0.74f, 0.34f);
    case Icon::back:
      pen.triangle(0.58f, 0.24f);
      return pen.bar(0.66f, 0.74f);
    case Icon::play:
      return pen.triangle(0.32f, 0.76f);
    case Icon::pause:
      pen.bar(0.31f, 0.44f);
      return pen.bar(0.56f, 0.69f);
    case Icon::forward:
      pen.bar(0.26f, 0.34f);
      return pen.triangle(0.42f, 0.76f);
    case Icon::next:
      pen.triangle(0.26f, 0.66f);
      return pen.bar(0.69f, 0.76f);
  }
}

}  // namespace

bool icon_button(const char* id, Icon icon, bool enabled) {
  const float side = ImGui::GetFrameHeight();
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  ImGui::BeginDisabled(!enabled);
  const bool pressed = ImGui::Button(id, {side, side});
  draw(icon, Pen(corner, side));
  ImGui::EndDisabled();
  return pressed;
}

}  // namespace facesat::app
