// Draws boxes around faces.
#pragma once

#include <vector>

#include "results/results.hpp"

namespace facesat {

// The colour of a cascade's boxes. `cascade`: its index, as in Face.
Bgr cascade_colour(std::size_t cascade);

// A copy of the picture with a box around each face; each cascade has its own colour.
Image<Bgr> with_boxes(View<const Bgr> picture, const std::vector<Face>& faces);

}  // namespace facesat
