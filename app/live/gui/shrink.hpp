// Makes smaller copies of pictures that are too large for a texture.
#pragma once

#include "core/image.hpp"

namespace facesat::app {

// The smallest integer factor by which a picture must shrink so that no side exceeds `limit`.
int shrink_factor(Size size, int limit);

// Each pixel is the mean of factor x factor pixels; at the right and lower edges, of those that
// exist.
Image<Bgr> shrink(View<const Bgr> picture, int factor);

}  // namespace facesat::app
