// All windows of a picture, on every level, by number.
#pragma once

#include <cstdint>
#include <vector>

#include "core/image.hpp"
#include "core/pyramid.hpp"

namespace facesat::training {

// The windows that the detector searches in pictures of one size with Scan::dense. They are
// numbered from 0 by level, y and x.
class WindowPositions {
 public:
  struct Place {
    int level, x, y;  // x, y: pixels of the level
  };

  // Throws ArgumentError for a scale factor that is not greater than 1, or too close to it.
  WindowPositions(Size picture, Size window, double scale_factor);

  const Pyramid& pyramid() const { return pyramid_; }
  std::uint64_t count() const { return first_.back(); }  // 0: the picture is too small

  Place place(std::uint64_t number) const;
  std::uint64_t number(const Place& place) const;
  Rect box(const Place& place) const;  // in the picture

  // Copies the pixels that the detector sees in a window: of the resized picture. `gray` has the
  // size of the constructor's picture, `pixels` that of the window.
  void cut(View<const std::uint8_t> gray, const Place& place, View<std::uint8_t> pixels) const;

 private:
  struct Taps {
    std::vector<ResizeTap> columns, rows;
  };

  Pyramid pyramid_;
  std::vector<std::uint64_t> first_;  // number of the first window of each level; at last, count()
  std::vector<Taps> taps_;            // of each level
};

}  // namespace facesat::training
