// Frames of whatever OpenCV's videoio has opened.
#pragma once

#include <optional>

#include <opencv2/videoio.hpp>

#include "app/io/codec.hpp"

namespace facesat::app {

// The next frame, in 8-bit colour; nothing at the end, which a damaged film has where it cannot be
// decoded any further.
std::optional<Picture> next_picture(cv::VideoCapture& capture);

}  // namespace facesat::app
