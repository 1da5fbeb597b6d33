// The looks of the user interface: colours, rounding and spacing, and the font.
#pragma once

namespace facesat::app {

// `scale` is that of the display: above 1 for high resolutions.
void apply_theme(bool dark, float scale);

// Replaces the fonts of Dear ImGui's atlas by one of `pixels` height with Latin, Greek and Cyrillic
// letters and, where a font that has them is installed, Chinese, Japanese and Korean ones. Without
// any of the known fonts, the one that is built into Dear ImGui, which has ASCII alone. The texture
// of the atlas must be made again afterwards.
void load_fonts(float pixels);

}  // namespace facesat::app
