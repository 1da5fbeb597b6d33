// The parts of the panel of the view: what is shown and filtered, and what the picture shows at a
// point.
#pragma once

#include <cstdint>
#include <string>

#include "app/live/detection/history.hpp"
#include "app/live/detection/inspection.hpp"
#include "app/live/detection/live_result.hpp"
#include "app/live/gui/picture_view.hpp"

namespace facesat::app {

// Selects which intermediate picture of the detector is shown; returns true if the selection
// changed, to which the opacities do not belong.
bool draw_inspection(Inspection& inspection, int level_count, Opacities& opacities);

// The filter whose result is shown, and the times of its algorithms. Returns true if the choice
// changed. last: the result that is shown; history: of such results.
bool draw_filter(FilterChoice& choice, const LiveResult& last, const History& history);

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
