// How the explanation of a window is shown: the rectangles of one feature over the picture, and
// tables with the numbers from the integral image to the judgement of the stage.
#pragma once

#include <imgui.h>

#include "app/live/detection/inspection.hpp"
#include "app/live/gui/picture_view.hpp"

namespace facesat::app {

// The colour of rectangles that are added (Haar: their weight is positive; LBP: the block is not
// below the centre), and that of the others; opaque.
ImU32 colour_of(const RectangleSum& rectangle, FeatureKind kind);

// Draws the outline of the window. For this and the next function, the picture must have been drawn
// last, with the proportions of the frame.
void draw_window_outline(const PictureView& view, const LevelTables& tables,
                         const Explanation& explanation);
// Draws the rectangles of the feature and, at the corners of the chosen one, the elements of the
// integral image.
void draw_feature(const PictureView& view, const LevelTables& tables,
                  const Explanation& explanation, int chosen_rectangle);

// Chooses a stage, a weak classifier and a node of its tree.
void choose_feature(const Cascade& cascade, FeatureChoice& choice);
// The rectangles with their sums; a click on one chooses it.
void draw_rectangles(const LevelTables& tables, const Explanation& explanation,
                     FeatureChoice& choice);
// How the chosen rectangle's sum is read from the integral image.
void draw_corner_table(const Explanation& explanation, const FeatureChoice& choice);
// From the sums to the node test.
void draw_node_test(const LevelTables& tables, const Explanation& explanation,
                    const FeatureChoice& choice);
// From the node tests to the sum of the stage, and what becomes of the window.
void draw_stage_test(const LevelTables& tables, const Explanation& explanation,
                     const FeatureChoice& choice);

}  // namespace facesat::app
