// The orientation in a picture's EXIF data, as cv::imread of OpenCV 4.6 finds it. Pixels must equal
// those of cv::imread, so OpenCV is followed even where the EXIF standard differs.
#pragma once

#include <span>

namespace facesat {

// The EXIF data of a JPEG file, starting at their TIFF header; empty if there are none, or if the
// file is not a JPEG.
std::span<const unsigned char> exif_in_jpeg(std::span<const unsigned char> file);

// The orientation in EXIF data that start at their TIFF header: 1 .. 8, where 1 is upright. Also 1
// if there is no orientation or the data are damaged.
int exif_orientation(std::span<const unsigned char> exif);

}  // namespace facesat
