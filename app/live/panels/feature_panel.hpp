// Explains one feature of the first cascade in the window under the pointer.
#pragma once

#include <optional>

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
  std::optional<ImVec2> point_;  // of the frame: the where the window is
  bool is_held_ = false;
};

}  // namespace facesat::app
