// A drawing in the making.
#pragma once

#include <string>

namespace facesat::drawings {

class Sheet {
 public:
  explicit Sheet(int width) : width_(width) {}

  void rectangle(double x, double y, double width, double height, const char* colour);
  void line(double x1, double y1, double x2, double y2, const char* colour);
  enum class Anchor { start, middle, end };
  void text(double x, double y, int size, const std::string& text, Anchor anchor = Anchor::start);
  std::string finish(int height) const;  // as SVG

 private:
  int width_;
  std::string body_;
};

}  // namespace facesat::drawings
