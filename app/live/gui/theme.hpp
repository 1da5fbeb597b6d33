// The looks of the user interface: colours, rounding and spacing.
#pragma once

namespace facesat::app {

// `scale` is that of the display: above 1 for high resolutions.
void apply_theme(bool dark, float scale);

}  // namespace facesat::app
