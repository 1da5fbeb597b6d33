// What the picture shows at a point, in words, and the scale of its colours.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "app/live/detection/inspection.hpp"
#include "app/live/detection/live_result.hpp"
#include "app/live/gui/picture_view.hpp"

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

// Draws the value under the pointer into the lower left corner of the view, and, if the picture is
// in false colours, the scale of its colours into the upper left one. The picture must have been
// drawn last, and must be that of `result`.
void draw_readings(const PictureView& view, const LiveResult& result);

}  // namespace facesat::app
