#include "kernels/cascade/patch_layout.hpp"

#include <algorithm>

namespace facesat::gpu {

PatchLayout make_patch_layout(Size window, int step, int planes, int most_bytes) {
  PatchLayout layout;
  layout.step = step;
  layout.planes = planes;
  layout.vectors = vectors_across(step, std::max(window.width, usual_width));
  for (layout.rows_of_windows = max_tile_rows;; layout.rows_of_windows /= 2) {
    layout.rows = (layout.rows_of_windows - 1) * step + window.height + 1;
    if (layout.rows_of_windows == 1 || layout.bytes() <= most_bytes) return layout;
  }
}

}  // namespace facesat::gpu
