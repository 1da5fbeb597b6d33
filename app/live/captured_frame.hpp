// A frame as the capture thread gives it to the others.
#pragma once

#include <cstdint>

#include "library/media/frame_source.hpp"

namespace facesat::app {

struct CapturedFrame : Frame {
  std::uint64_t source = 0;  // counts the sources that were opened
  bool is_still = false;     // a picture, which stays until another one is asked for
  bool is_of_video = false;  // Capture::seek() to its position shows it again
  double capture_ms = 0;     // the time to read it
  double rate = 0;           // frames per second of its source; 0: it has none
  double seconds = 0;        // when it was taken: in a video, or else on the machine's clock
};

}  // namespace facesat::app
