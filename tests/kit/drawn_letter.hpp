// Draws letters: objects that small cascades learn quickly.
#pragma once

#include <algorithm>
#include <random>

#include "tests/kit/pictures.hpp"

namespace facesat::test {

// A bright T on a darker, uneven ground, at a slightly different place for each seed. Sides of at
// least 9 pixels.
inline Image<std::uint8_t> drawn_letter(Size size, unsigned seed) {
  std::mt19937 random(seed);
  const auto below = [&](int n) { return static_cast<int>(random() % n); };
  const auto [width, height] = size;
  const int bright = 120 + below(60), dark = 40 + below(50);
  const int x = width / 3 + below(width / 4), y = 1 + below(2), thick = std::max(2, width / 5);
  return formula<std::uint8_t>(size, [&, width = width, height = height](int u, int v) {
    const bool is_bar = v >= y && v < y + thick && u >= 1 && u < width - 1;
    const bool is_stem = v >= y && v < height - 1 && u >= x && u < x + thick;
    return (is_bar || is_stem ? bright : dark) + below(70);
  });
}

}  // namespace facesat::test
