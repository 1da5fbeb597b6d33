// Brings colours in order, converts a colour frame to a grey image, equalises its histogram, and
// resizes it to the levels of the pyramid.
#pragma once

#include <cstdint>
#include <span>

#include "core/image.hpp"
#include "core/pyramid.hpp"

namespace facesat::cpu {

// OpenCV 4.6's COLOR_BGR2GRAY for 8 bits: (3735 B + 19235 G + 9798 R + 16384) >> 15.
void to_gray(View<const Bgr> frame, View<std::uint8_t> gray);
void to_gray(View<const Rgb> frame, View<std::uint8_t> gray);

// As many pixels as `to` has.
void reverse_colours(const Rgb* from, std::span<Bgr> to);

// OpenCV 4.6's equalizeHist. Source and result may be the same picture.
void equalize(View<const std::uint8_t> gray, View<std::uint8_t> result);

// OpenCV 4.6's INTER_LINEAR_EXACT for 8 bits. `level` is a level or a rectangle of one; `columns`
// and `rows` are the taps of its columns and rows (see resize_taps).
void resize(View<const std::uint8_t> gray, View<std::uint8_t> level,
            std::span<const ResizeTap> columns, std::span<const ResizeTap> rows);

}  // namespace facesat::cpu
