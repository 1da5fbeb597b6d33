// Generated pictures for tests, the same on every machine.
#pragma once

#include <cstdint>

#include "core/image.hpp"

namespace facesat::test {

// Independent pixels from low .. high - 1.
Image<std::uint8_t> noise(Size size, unsigned seed, int low = 0, int high = 256);
Image<Bgr> colour_noise(Size size, unsigned seed);

// Every pixel the same.
Image<std::uint8_t> flat(Size size, std::uint8_t value);

// Noise with structure at one scale, stretched to 0 .. 255: its windows pass several stages.
Image<std::uint8_t> clouds(Size size, unsigned seed, int radius);

// Drawn faces of growing size in a row, which face cascades find.
Image<std::uint8_t> drawn_faces(Size size);

// A grey picture as a colour picture with equal channels, whose grey image is the same.
Image<Bgr> coloured(View<const std::uint8_t> gray);

}  // namespace facesat::test
