// Cuts faces out of pictures.
#pragma once

#include "core/image.hpp"

namespace facesat {

struct CropOptions {
  double margin = 0;  // added at each side, as a fraction of the face's width and height
  Size size;          // of all crops; 0: as they are cut out
};

// What is cut out for a face. Its box grows at each side by the margin, rounded to whole pixels
// (halves up); then, if crops have a size, in one direction to that size's aspect ratio, around the
// same centre (an odd pixel is added at the right or below). It may reach beyond the picture.
Rect crop_region(const Rect& box, const CropOptions& options);

// The crop of a face. What lies beyond the picture repeats its edge: that adds neither lines nor
// dark areas, which a program that is trained on crops, or a viewer, would take for a part of them.
// Throws MemoryError.
Image<Bgr> crop(View<const Bgr> picture, const Rect& box, const CropOptions& options);

}  // namespace facesat
