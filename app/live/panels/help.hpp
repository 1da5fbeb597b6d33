// The list of keys.
#pragma once

namespace facesat::app {

// `is_open` becomes false when the user closes it.
void draw_help(bool& is_open);

}  // namespace facesat::app
