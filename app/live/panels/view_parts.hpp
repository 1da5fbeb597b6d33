// The parts of the panel of the view: what is shown, filtered and explained, and what the picture
// shows at a point.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <imgui.h>

#include "app/live/detection/history.hpp"
#include "app/live/detection/inspection.hpp"
#include "app/live/detection/live_result.hpp"
#include "app/live/gui/picture_view.hpp"

namespace facesat::app {

// Selects which intermediate picture of the detector is shown; returns true if the selection
// changed. `opacity`: that of the picture over the frame, in percent, which is not a part of the
// selection.
bool draw_inspection(Inspection& inspection, int level_count, int& opacity);

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

// Explains one feature of the first cascade in the window under the pointer: over the picture, and
// as tables in the panel.
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
