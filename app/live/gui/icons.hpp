// Buttons with the symbols of media players.
#pragma once

namespace facesat::app {

enum class Icon { previous, back, play, pause, forward, next };

// A square button; returns true when it is pressed. `id`: as for every control of Dear ImGui.
bool icon_button(const char* id, Icon icon, bool enabled = true);

}  // namespace facesat::app
