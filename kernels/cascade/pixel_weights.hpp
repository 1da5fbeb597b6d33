// A Haar feature as a weighted sum of its window's pixels, whose weights are small integers. Many
// features of many windows are then a product of two matrices of bytes (see late_stages.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/cascade.hpp"

namespace facesat::gpu {

// One weight per pixel of the window, row by row. For every picture, the weighted sum of the pixels
// is the integer that the feature's corners in the integral image give, and its f32 value is
// OpenCV's. nullopt if no such weights exist: see is_exact() in haar_node.hpp; or if a weight does
// not fit into 8 bits. Throws std::logic_error if the feature reaches outside the window.
std::optional<std::vector<std::int8_t>> pixel_weights(const HaarFeature& feature, Size window);

}  // namespace facesat::gpu
