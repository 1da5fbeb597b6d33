// Two results side by side: one that was pinned, at the left of a line that the pointer moves, and
// what is shown now at its right. So settings are compared on a picture, SAT algorithms, a filter
// with the original, or two frames of a video.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/live/detection/live_result.hpp"
#include "app/live/gui/picture_view.hpp"

namespace facesat::app {

class PinnedResult {
 public:
  // Pins this result, whose picture must be in the view; or, if one is pinned, lets it go.
  void toggle(const LiveResult& result, PictureView& view);
  // To be called with every new result: only frames of the same size are compared.
  void note(const LiveResult& now, PictureView& view) const;
  bool is_there() const { return pinned_.has_value(); }
  // Has the pinned picture the size of this one, so that they can be compared?
  bool fits(const LiveResult& now) const;

  // Draws the boxes of the pinned result at the left of the line, and says at both sides what
  // differs. The view must have been drawn last.
  void draw(const PictureView& view, const LiveResult& now, bool labels) const;

 private:
  struct Pinned {
    std::vector<Face> faces;
    LiveSettings settings;
    Size size;
  };
  std::optional<Pinned> pinned_;
};

// The settings of detection in which `of` differs from `other`, as options: "min-neighbors 5".
std::string different_settings(const LiveSettings& of, const LiveSettings& other);

}  // namespace facesat::app
