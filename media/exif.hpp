// The orientation in a picture's EXIF data, as cv::imread of OpenCV 4.6 finds it. Pixels must equal
// those of cv::imread, so OpenCV is followed even where the EXIF standard differs.
#pragma once

#include <span>

#include "media/codec.hpp"

namespace facesat {

// The orientation in EXIF data that start at their TIFF header: 1 .. 8, where 1 is upright; 0 if
// there is none, it has another value, or the data are damaged.
int exif_orientation(std::span<const unsigned char> exif);

// Are the further pictures of a file, by its index in the Multi-Picture Format, all previews of the
// first one? The index starts with a TIFF header, as EXIF data do.
bool has_only_previews(std::span<const unsigned char> index);

// Rotates and mirrors a picture, in colour or not, to be upright, from its EXIF orientation, 1
// .. 8, and notes that. 0: the orientation is unknown, and the picture stays as it is. Throws
// MemoryError.
Picture upright(Picture picture, int orientation);

}  // namespace facesat
