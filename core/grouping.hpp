// Windows -> faces: OpenCV's groupRectangles.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "core/image.hpp"
#include "core/stop.hpp"

namespace facesat {

// A window that passed every stage.
struct Window {
  int level = 0;     // index into Pyramid::levels
  int x = 0, y = 0;  // pixels of that level
  double score = 0;  // sum of the last stage
  Rect box;          // in the image
};

constexpr double similarity = 0.2;  // OpenCV's eps

// How far apart the edges of similar rectangles of these sizes may be. OpenCV compares integers
// with the f64 value similarity * (width + height) * 0.5, of the smaller width and height; rounded
// down, that is a tenth of their sum.
constexpr int similar_within(Size a, Size b) {
  return (std::min(a.width, b.width) + std::min(a.height, b.height)) / 10;
}

constexpr bool are_similar(const Rect& a, const Rect& b) {
  const int within = similar_within({a.width, a.height}, {b.width, b.height});
  const auto close = [within](int p, int q) { return (p < q ? q - p : p - q) <= within; };
  return close(a.x, b.x) && close(a.y, b.y) && close(a.x + a.width, b.x + b.width) &&
         close(a.y + a.height, b.y + b.height);
}

// Into the order of results: by y, x, width and height; faces in the same place stay as they are.
void sort_by_place(std::vector<Face>& faces);

// Groups similar windows: those of a class (of the transitive closure of are_similar()). Each class
// of more than `min_neighbors` windows gives one face, unless it lies inside the face of a stronger
// class. With min_neighbors = 0 each window is a face. The order of the result is unspecified. Of a
// window, only box and score are read. Source: OpenCV 4.6, objdetect, groupRectangles with eps 0.2.
//
// Where windows lie close together, the time grows with the square of their number, so
// `should_stop` is polled now and then. Throws Stopped once it returns true.
std::vector<Face> group_faces(std::span<const Window> windows, int min_neighbors,
                              const ShouldStop& should_stop = {});

// The windows of a class, added up.
struct WindowClass {
  std::int64_t x = 0, y = 0, width = 0, height = 0;  // sums of their boxes
  int count = 0;
  double score = -std::numeric_limits<double>::infinity();  // the best one
};

// The same for windows whose classes are known, if min_neighbors > 0.
std::vector<Face> group_classes(std::span<const WindowClass> classes, int min_neighbors,
                                const ShouldStop& should_stop = {});

}  // namespace facesat
