// What a trained cascade looks at first, drawn on the object.
#pragma once

#include "boosting/samples.hpp"
#include "core/cascade.hpp"
#include "core/image.hpp"

namespace facesat::app {

// A sheet of the mean of the positives, enlarged, once for every node test of the first stage, with
// its feature drawn on it. Of Haar features, pixels are lighter where they count as positive, and
// darker where they count as negative; of LBP features, the grid is drawn, and the block in its
// centre, with which the others are compared, is lighter. The cascade has a stage; `positives` are
// not empty and of the size of its window. Throws MemoryError.
Image<Bgr> features_picture(const Cascade& cascade, const training::Samples& positives);

}  // namespace facesat::app
