// Converts a colour frame to a grey image, and equalises its histogram.
#pragma once

#include <cstdint>

#include "core/image.hpp"

namespace facesat::cpu {

// OpenCV 4.6's COLOR_BGR2GRAY for 8 bits: (3735 B + 19235 G + 9798 R + 16384) >> 15.
void to_gray(View<const Bgr> frame, View<std::uint8_t> gray);

// OpenCV 4.6's equalizeHist. Source and result may be the same picture.
void equalize(View<const std::uint8_t> gray, View<std::uint8_t> result);

}  // namespace facesat::cpu
