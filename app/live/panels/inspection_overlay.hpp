// Drawn over an intermediate picture: the value under the pointer, and the scale of its colours.
#pragma once

#include "app/live/detection/live_result.hpp"
#include "app/live/gui/picture_view.hpp"

namespace facesat::app {

// Draws the value under the pointer into the lower left corner of the view, and, if the picture is
// in false colours, the scale of its colours into the upper left one. The picture must have been
// drawn last, and must be that of `result`.
void draw_readings(const PictureView& view, const LiveResult& result);

}  // namespace facesat::app
