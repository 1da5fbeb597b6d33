// gray -> one level of the pyramid
#pragma once

#include <cstdint>
#include <span>

#include "core/image.hpp"
#include "core/pyramid.hpp"

namespace facesat::cpu {

// OpenCV 4.6's INTER_LINEAR_EXACT for 8 bits. columns and rows hold level.size taps (resize_taps);
// a level of the image's own size is copied.
void resize(View<const std::uint8_t> gray, View<std::uint8_t> level,
            std::span<const ResizeTap> columns, std::span<const ResizeTap> rows);

}  // namespace facesat::cpu
