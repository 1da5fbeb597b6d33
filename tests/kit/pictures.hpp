// Generated pictures for tests, the same on every machine.
#pragma once

#include <cstdint>

#include "core/image.hpp"

namespace facesat::test {

// The picture whose pixel (x, y) is value(x, y), converted to the type of pixels. The function is
// called row by row.
template <class Pixel, class Value>
Image<Pixel> formula(Size size, Value value) {
  Image<Pixel> picture(size);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) picture.row(y)[x] = static_cast<Pixel>(value(x, y));
  return picture;
}

// Independent pixels from low .. high - 1.
Image<std::uint8_t> noise(Size size, unsigned seed, int low = 0, int high = 256);
Image<Bgr> colour_noise(Size size, unsigned seed);

// A picture whose pixels all have this value.
Image<std::uint8_t> flat(Size size, std::uint8_t value);

// Noise, blurred over `radius` pixels and stretched to 0 .. 255. Unlike in plain noise, windows
// pass several stages.
Image<std::uint8_t> clouds(Size size, unsigned seed, int radius);

// A row of as many drawn faces as fit, each larger than the one before. Face cascades find them.
Image<std::uint8_t> drawn_faces(Size size);

// A grey picture as a colour picture with equal channels, whose grey image is the same.
Image<Bgr> coloured(View<const std::uint8_t> gray);

}  // namespace facesat::test
