// A feature over the picture: its rectangles in the window that they belong to.
#pragma once

#include "app/live/detection/feature_view.hpp"
#include "app/live/gui/picture_view.hpp"

namespace facesat::app {

// The colours of rectangles that are added (Haar: their weight is positive; LBP: the block is not
// below the centre) and of the others, opaque.
constexpr ImU32 added_colour = IM_COL32(240, 160, 20, 255);
constexpr ImU32 subtracted_colour = IM_COL32(30, 120, 215, 255);
ImU32 colour_of(const RectangleSum& rectangle, FeatureKind kind);

// Draws the window, the rectangles and, at the corners of the chosen one, the elements of the
// integral image. The picture must have been drawn last, with the proportions of the frame.
void draw_feature(const PictureView& view, const LevelTables& tables,
                  const Explanation& explanation, int chosen_rectangle);

}  // namespace facesat::app
