// Makes faces unrecognisable.
#pragma once

#include <vector>

#include "results/results.hpp"

namespace facesat {

enum class BlurStyle {
  blur,      // smooth
  pixelate,  // a mosaic
};

// A copy of the picture in which each face, and a quarter of its width and height at each side
// (hair, chin, ears), has been replaced. Either way, nothing of that rectangle is left but the mean
// colours of 4 x 4 cells, however large the face is: no filter can get it back, and cascades do not
// find it any more. Throws MemoryError.
Image<Bgr> with_blurred(View<const Bgr> picture, const std::vector<Face>& faces, BlurStyle style);

}  // namespace facesat
