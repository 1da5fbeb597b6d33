// How GoogleTest prints the core's types, equality operators that the core itself does not need,
// and the boxes of faces, where only these are compared.
#pragma once

#include <ostream>
#include <vector>

#include "core/backend.hpp"
#include "core/grouping.hpp"
#include "core/image.hpp"

namespace facesat {

inline void PrintTo(const Size& s, std::ostream* out) {
  *out << s.width << "x" << s.height;
}
inline void PrintTo(const Rect& r, std::ostream* out) {
  *out << "(" << r.x << "," << r.y << " " << r.width << "x" << r.height << ")";
}

inline bool operator==(const Window& a, const Window& b) {
  return a.level == b.level && a.x == b.x && a.y == b.y && a.score == b.score;
}
inline void PrintTo(const Window& w, std::ostream* out) {
  *out << "level " << w.level << " (" << w.x << "," << w.y << ") " << w.score;
}

inline bool operator==(const Face& a, const Face& b) {
  return a.box == b.box && a.neighbors == b.neighbors && a.score == b.score &&
         a.cascade == b.cascade;
}
inline void PrintTo(const Face& f, std::ostream* out) {
  PrintTo(f.box, out);
  *out << " of " << f.neighbors << ", " << f.score;
}

namespace test {

inline std::vector<Rect> boxes(const std::vector<Face>& faces) {
  std::vector<Rect> result;
  for (const Face& face : faces) result.push_back(face.box);
  return result;
}

}  // namespace test

}  // namespace facesat
