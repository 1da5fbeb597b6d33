// Resizes the grey image to a level of the pyramid, or to a part of a level.
#pragma once

#include <cstdint>
#include <span>

#include "core/image.hpp"
#include "core/pyramid.hpp"

namespace facesat::cpu {

// OpenCV 4.6's INTER_LINEAR_EXACT for 8 bits. `level` is a level or a rectangle of one; `columns`
// and `rows` are the taps of its columns and rows (see resize_taps).
void resize(View<const std::uint8_t> gray, View<std::uint8_t> level,
            std::span<const ResizeTap> columns, std::span<const ResizeTap> rows);

}  // namespace facesat::cpu
