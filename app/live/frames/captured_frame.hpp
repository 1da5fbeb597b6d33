// A frame as the capture thread gives it to the others.
#pragma once

#include <cstdint>
#include <string>

#include "library/media/frame_source.hpp"

namespace facesat::app {

struct CapturedFrame : Frame {
  std::uint64_t source = 0;  // counts the sources that were opened
  std::string origin{};      // its source, as open_source() takes it
  std::uint64_t list = 0;    // counts the lists of sources that were opened
  // Which frame of its video it is, or which picture of its list, and how many there are; a count
  // of 0: unknown.
  std::size_t index = 0, count = 0;
  FrameSource::Kind kind = FrameSource::Kind::video;  // of its source
  double capture_ms = 0;                              // the time to read it
  double rate = 0;     // frames per second of its source; 0: it has none
  double seconds = 0;  // when it was taken: in a video, or else on the machine's clock

  // A picture stays until another one is asked for.
  bool is_still() const { return kind == FrameSource::Kind::picture; }
};

}  // namespace facesat::app
