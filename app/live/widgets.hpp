// Small pieces that all panels of the window use.
#pragma once

#include <string>

namespace facesat::app {

// Draws an error message, marked by a bar in the colour of warnings.
void draw_warning(const std::string& message);

// Explains the control, column or text drawn last while the pointer is over it; also if that is
// disabled.
void tooltip(const std::string& text);

}  // namespace facesat::app
