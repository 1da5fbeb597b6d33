// Grey pictures of the window's size: what a cascade is trained on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/image.hpp"

namespace facesat::training {

struct Samples {
  Size window;
  std::vector<std::uint8_t> pixels;  // window.area() for each sample, row by row

  std::size_t count() const { return pixels.size() / window.area(); }
  View<const std::uint8_t> operator[](std::size_t sample) const {
    return {pixels.data() + sample * window.area(), window, window.width};
  }
  // Appends a copy of a picture of the window's size.
  void add(View<const std::uint8_t> picture) {
    for (int y = 0; y < window.height; ++y)
      pixels.insert(pixels.end(), picture.row(y), picture.row(y) + window.width);
  }
};

}  // namespace facesat::training
