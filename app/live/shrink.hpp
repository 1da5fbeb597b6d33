// Smaller copies of pictures that are too large for a texture.
#pragma once

#include "core/image.hpp"

namespace facesat::app {

// The least whole number of times that a picture must shrink for no side to exceed `limit`.
int shrink_factor(Size size, int limit);

// Each pixel is the mean of factor x factor pixels, or of as many of them as there are at the right
// and lower edges.
Image<Bgr> shrink(View<const Bgr> picture, int factor);

}  // namespace facesat::app
