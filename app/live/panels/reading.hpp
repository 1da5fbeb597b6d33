// What the picture shows at a point, in words.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "app/live/detection/inspection.hpp"

namespace facesat::app {

struct Reading {
  std::string value;    // the pixel's place and value
  std::string meaning;  // of such values
};

// Of the frame at pixel (x, y), which must exist.
Reading reading_of(View<const Bgr> frame, int x, int y);

// Of an intermediate picture at a point inside it, given as fractions of its width and height.
Reading reading_of(const InspectedPicture& picture, double x, double y);

// With commas between groups of three digits.
std::string with_commas(std::uint64_t number);

}  // namespace facesat::app
