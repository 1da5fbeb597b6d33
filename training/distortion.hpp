// Varied samples of one object: shifted, scaled and turned copies, and what opencv_createsamples
// made of a single picture, which is turned in space and drawn over backgrounds.
//
// What is drawn depends on the seed alone: mt19937_64 is the same everywhere, and so is the
// arithmetic on its numbers; sines are rounded to 20 bits before they are used, and positions in
// pictures to 1/256 of a pixel.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <random>

#include "core/image.hpp"

namespace facesat::training {

// Random numbers without std::uniform_*_distribution, which differ between libraries.
class Random {
 public:
  // The numbers depend on all of the seeds and on their order.
  explicit Random(std::initializer_list<std::uint64_t> seeds);

  double fraction();               // from 0 to just below 1
  double within(double most);      // from -most to most
  int whole(int least, int most);  // both included
  bool coin() { return whole(0, 1) == 1; }

 private:
  std::mt19937_64 engine_;
};

// A copy of what `box` has of the picture, which is stretched to the window. The box may reach
// beyond the picture, whose edges are repeated there.
Image<std::uint8_t> random_copy(View<const std::uint8_t> picture, const Rect& box,
                                const SampleOptions& options, Random& random);

struct DistortionOptions {
  int copies = 0;                   // of each object, in its place
  std::optional<int> transparent;   // the grey value that lets the background through
  int tolerance = 80;               // other values up to this far from it do so, too
  bool inverted = false;            // bright becomes dark
  bool inverted_at_random = false;  // of every second copy
  int intensity = 40;               // added to pixels of the object, or subtracted, at most
  // In radians, at most: the turn around the axes to the right, down, and into the picture.
  double max_x_angle = 1.1, max_y_angle = 1.1, max_z_angle = 0.5;
};
constexpr double steepest_angle = 1.4;  // for max_x_angle and max_y_angle: an edge shows nothing

// A copy of what `box` has of the picture, which is stretched to the window's aspect ratio, turned
// in space, seen from three times its size away and as large as it fits into the window, over
// `background`, which is a picture of the window's size.
Image<std::uint8_t> distorted(View<const std::uint8_t> picture, const Rect& box,
                              View<const std::uint8_t> background, const DistortionOptions& options,
                              Random& random);

// A part of the picture in the size of the window, of a random size and place. No side of the
// picture may be shorter than the window's.
Image<std::uint8_t> random_part(View<const std::uint8_t> picture, Size window, Random& random);

// A picture as in a mirror.
Image<std::uint8_t> mirrored(View<const std::uint8_t> picture);

}  // namespace facesat::training
