// Explains one feature of the first cascade in the window under the pointer: over the picture, and
// as tables in the panel.
#pragma once

#include <optional>

#include <imgui.h>

#include "app/live/detection/feature_view.hpp"
#include "app/live/detection/live_result.hpp"
#include "app/live/gui/picture_view.hpp"

namespace facesat::app {

class FeatureExplorer {
 public:
  // Draws the controls and the numbers. Returns true if inspection.explains changed.
  bool draw_panel(Inspection& inspection, const LiveResult& last);

  // Draws the feature over the picture, which must have been drawn last and be that of `last`, in
  // the window under the pointer.
  void draw_over(const PictureView& view, const LiveResult& last);

  // The window follows the pointer, which is at this point of the frame, or elsewhere. A click
  // holds the window, or lets it go again.
  void follow(std::optional<ImVec2> pointed, bool is_clicked);

  std::optional<ImVec2> point() const { return point_; }
  const FeatureChoice& choice() const { return choice_; }

 private:
  void choose(const Cascade& cascade);
  Explanation explain_pointed(const LevelTables& tables) const;

  FeatureChoice choice_;
  std::optional<ImVec2> point_;  // of the frame: where the window is
  bool is_held_ = false;
};

// The colour of rectangles that are added (Haar: their weight is positive; LBP: the block is not
// below the centre), and that of the others; opaque.
ImU32 colour_of(const RectangleSum& rectangle, FeatureKind kind);

// The rectangles with their sums; a click on one chooses it.
void draw_rectangles(const LevelTables& tables, const Explanation& explanation,
                     FeatureChoice& choice);
// How the chosen rectangle's sum is read from the integral image.
void draw_corner_table(const Explanation& explanation, const FeatureChoice& choice);
// From the sums to the response, and from the responses to what becomes of the window.
void draw_judgement(const LevelTables& tables, const Explanation& explanation,
                    const FeatureChoice& choice);

}  // namespace facesat::app
