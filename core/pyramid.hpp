// Plans the levels of a pyramid from the scale factor and the size limits. Pure arithmetic, by the
// rules of OpenCV 4.6's CascadeClassifier.
#pragma once

#include <cstdint>
#include <vector>

#include "core/image.hpp"

namespace facesat {

// Throws ArgumentError with a sentence that names the option.
void check(const DetectOptions& options);

struct Level {
  float scale = 1;  // image pixels per pixel of the level
  Size size;        // of the resized image
  int step = 1;     // between window positions, in both axes, in level pixels
  Size grid;        // window positions: (x, y) = step * (0 .. grid - 1)
};

struct Pyramid {
  Size image, window;
  std::vector<Level> levels;
};

// Plans the levels for one image size and window. An image smaller than the window has no levels.
// Throws ArgumentError for a scale factor so close to 1 that there would be too many levels.
Pyramid plan_pyramid(Size image, Size window, const DetectOptions& options);

// One axis of the "exact" bilinear resize: for each output pixel the two source pixels and their
// weights, which sum to 256.
struct ResizeTap {
  std::int32_t first = 0, second = 0;
  std::uint16_t first_weight = 256, second_weight = 0;
};

// Taps for resizing `source` pixels to `length` pixels (OpenCV's INTER_LINEAR_EXACT for 8 bits).
std::vector<ResizeTap> resize_taps(int source, int length);

// The box in the image of the window at (x, y) of a level; x and y are pixels of the level.
Rect window_in_image(const Level& level, Size window, int x, int y);

}  // namespace facesat
