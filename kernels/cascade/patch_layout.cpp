#include "kernels/cascade/patch_layout.hpp"

namespace facesat::gpu {

PatchLayout make_patch_layout(Size window, int step, int planes, int most_bytes) {
  PatchLayout layout;
  layout.step = step;
  layout.planes = planes;
  layout.columns = (tile_columns - 1) * step + window.width + 1;
  // At step 2 a row has as much room for odd columns as for even ones.
  layout.pitch = step == 1 ? layout.columns : (layout.columns + 1) / 2 * 2;
  for (layout.rows_of_windows = max_tile_rows;; layout.rows_of_windows /= 2) {
    layout.rows = (layout.rows_of_windows - 1) * step + window.height + 1;
    if (layout.rows_of_windows == 1 || layout.bytes() <= most_bytes) return layout;
  }
}

}  // namespace facesat::gpu
