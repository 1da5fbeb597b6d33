// The orientation in a picture's EXIF data, as cv::imread of OpenCV 4.6 finds it: its pixels are
// the measure, so it is followed also where the EXIF standard says otherwise.
#pragma once

#include <span>

namespace facesat {

// The EXIF data of a JPEG file, from their TIFF header on; nothing if there are none, or if it is
// no JPEG file.
std::span<const unsigned char> exif_in_jpeg(std::span<const unsigned char> file);

// What EXIF data say, from their TIFF header on: 1 .. 8, 1 is upright, also if nothing is said or
// the data are damaged.
int exif_orientation(std::span<const unsigned char> exif);

}  // namespace facesat
