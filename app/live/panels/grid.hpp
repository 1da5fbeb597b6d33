// The pictures and videos of a list side by side, in place of the picture.
#pragma once

#include <optional>

#include "app/live/frames/capture.hpp"
#include "app/live/panels/thumbnails.hpp"
#include "app/live/panels/window_parts.hpp"

namespace facesat::app {

class Grid {
 public:
  // Draws into what is left of the current window, and scrolls to the one that is shown when the
  // grid appears. marks: what is known of faces in them. Returns the entry that was clicked.
  std::optional<std::size_t> draw(const Capture::State& state, const FaceMarks& marks);

  // The next frame begins at the entry that is shown.
  void appear() { is_new_ = true; }

 private:
  Thumbnails thumbnails_;
  std::uint64_t lists_ = 0;  // of which the thumbnails are
  bool is_new_ = true;
};

}  // namespace facesat::app
