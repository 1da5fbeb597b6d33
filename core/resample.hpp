// Pictures in another size, in exact integer arithmetic: every build and machine makes the same.
#pragma once

#include <cstdint>

#include "core/image.hpp"

namespace facesat {

// What an axis is enlarged by. One that shrinks always gets the means of what its pixels cover.
enum class Enlarging {
  smooth,  // bilinear, as cv::INTER_LINEAR_EXACT
  blocks,  // each pixel becomes a block of its colour
};

// The part `region` of the picture in another size: shrunk without aliasing, as with
// cv::INTER_AREA, and rounded to the nearest value, halves up. A region of that size is copied as
// it is. The region may reach beyond the picture, whose edges are repeated there. No size may be
// empty. Throws MemoryError.
Image<Bgr> resampled(View<const Bgr> picture, const Rect& region, Size size,
                     Enlarging enlarging = Enlarging::smooth);
Image<std::uint8_t> resampled(View<const std::uint8_t> picture, const Rect& region, Size size,
                              Enlarging enlarging = Enlarging::smooth);

}  // namespace facesat
