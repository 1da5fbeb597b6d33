// What lies beyond the edges of a picture.
#pragma once

#include <array>
#include <string_view>

namespace facesat {

// On the row a b c d:
enum class Border {
  zero,        // 0 0 0 | a b c d | 0 0 0
  clamp,       // a a a | a b c d | d d d    OpenCV's BORDER_REPLICATE
  mirror,      // c b a | a b c d | d c b    OpenCV's BORDER_REFLECT, OpenGL's GL_MIRRORED_REPEAT
  reflect101,  // d c b | a b c d | c b a    OpenCV's BORDER_REFLECT_101 and its default
  wrap         // b c d | a b c d | a b c    OpenCV's BORDER_WRAP, OpenGL's GL_REPEAT
};
inline constexpr std::array<std::string_view, 5> border_names{"zero", "clamp", "mirror",
                                                              "reflect101", "wrap"};
constexpr std::string_view name_of(Border border) {
  return border_names[static_cast<std::size_t>(border)];
}

constexpr int floor_divide(int a, int b) {
  return a / b - (a % b < 0 ? 1 : 0);
}

inline constexpr int no_source = -1;

// The index, from 0 to n - 1, of the element that stands at place `i` of a row of `n` elements, or
// no_source if a zero does. `i` may be any distance outside.
constexpr int source_of(int i, int n, Border border) {
  if (i >= 0 && i < n) return i;
  switch (border) {
    case Border::zero:
      return no_source;
    case Border::clamp:
      return i < 0 ? 0 : n - 1;
    case Border::mirror: {
      const int place = i - floor_divide(i, 2 * n) * 2 * n;
      return place < n ? place : 2 * n - 1 - place;
    }
    case Border::reflect101: {
      if (n == 1) return 0;
      const int period = 2 * n - 2, place = i - floor_divide(i, period) * period;
      return place < n ? place : period - place;
    }
    case Border::wrap:
      return i - floor_divide(i, n) * n;
  }
  return no_source;
}

}  // namespace facesat
