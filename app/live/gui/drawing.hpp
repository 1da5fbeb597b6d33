// Drawings of what algorithms do (kernels/drawings), in the window.
#pragma once

#include <string_view>
#include <vector>

#include <imgui.h>

namespace facesat::app {

// A drawing in the form that kernels/drawings/sheet.hpp writes.
class Drawing {
 public:
  // The text must outlive the drawing.
  explicit Drawing(std::string_view svg);

  ImVec2 size() const { return size_; }
  // Draws it with its upper left corner there, in the current window.
  void draw(ImVec2 corner, float scale) const;

 private:
  enum class Kind { rectangle, line, text };
  enum class Anchor { start, middle, end };
  struct Shape {
    Kind kind;
    ImVec2 begin, end;  // of a text: where its baseline begins
    ImU32 colour;
    float font_size = 0;
    Anchor anchor = Anchor::start;
    std::string_view text{};
  };

  ImVec2 size_;
  std::vector<Shape> shapes_;
};

// That of a SAT algorithm; null: there is none.
const Drawing* drawing_of_sat(std::string_view id);

}  // namespace facesat::app
