// The bar below the picture: play, pause, step, position, speed, loop.
#pragma once

#include "app/live/detection/face_marks.hpp"
#include "app/live/frames/capture.hpp"

namespace facesat::app {

// The height of the bar in pixels if it is drawn over the whole width of the current window: a row
// more where there is a position to choose, and one more in a narrow window.
float player_bar_height(const Capture::State& state);

// Draws over the whole width of the current window. `marks`: of the video, or of the list if that
// has pictures.
void draw_player_bar(Capture& capture, const Capture::State& state, const FaceMarks& marks);

// Minutes, seconds and hundredths, after hours if there are any: "1:03.20".
std::string clock_time(double seconds);

}  // namespace facesat::app
