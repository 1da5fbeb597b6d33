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

constexpr double similarity = 0.2;  // OpenCV's eps in detection

// How far apart the edges of similar rectangles of these sizes may be. OpenCV compares integers
// with the f64 value eps * (width + height) * 0.5, of the smaller width and height; for an eps of
// 0.2 that is, rounded down, a tenth of their sum.
constexpr int similar_within(Size a, Size b) {
  return (std::min(a.width, b.width) + std::min(a.height, b.height)) / 10;
}

// Whether all edges are at most `within` apart.
constexpr bool are_similar(const Rect& a, const Rect& b, int within) {
  const auto close = [within](int p, int q) { return (p < q ? q - p : p - q) <= within; };
  return close(a.x, b.x) && close(a.y, b.y) && close(a.x + a.width, b.x + b.width) &&
         close(a.y + a.height, b.y + b.height);
}
constexpr bool are_similar(const Rect& a, const Rect& b) {
  return are_similar(a, b, similar_within({a.width, a.height}, {b.width, b.height}));
}

// Into the order of records: by y, x, width and height; in the same place by cascade, score and
// number of neighbours.
void sort_by_place(std::vector<Face>& faces);

// Groups similar windows: those of a class (of the transitive closure of are_similar()). Each class
// of more than `min_neighbors` windows gives one face, unless it lies inside the face of a stronger
// class. With min_neighbors = 0 each window is a face. Faces come in the order of the first windows
// of their classes. Of a window, only box and score are read. Source: OpenCV 4.6, objdetect,
// groupRectangles with eps 0.2.
//
// Where windows lie close together, the time grows with the square of their number, so
// `should_stop` is polled now and then. Throws Stopped once it returns true. Boxes must lie within
// 2^28 pixels of the origin. If `eps` is negative or not a number, no two windows are similar.
std::vector<Face> group_faces(std::span<const Window> windows, int min_neighbors,
                              const ShouldStop& should_stop = {}, double eps = similarity);

// The windows of a class, added up.
struct WindowClass {
  std::int64_t x = 0, y = 0, width = 0, height = 0;  // sums of their boxes
  int count = 0;
  double score = -std::numeric_limits<double>::infinity();  // the best one
};

// The same for windows whose classes are known, in the order of their first windows, if
// min_neighbors > 0.
std::vector<Face> group_classes(std::span<const WindowClass> classes, int min_neighbors,
                                const ShouldStop& should_stop = {}, double eps = similarity);

}  // namespace facesat
