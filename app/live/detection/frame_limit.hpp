// A run that ends by itself after a number of frames (--frames).
#pragma once

#include <cstddef>

#include "app/live/detection/detection.hpp"
#include "app/live/frames/capture.hpp"

namespace facesat::app {

class FrameLimit {
 public:
  // `frames`: 0 for a run without a limit. The others are borrowed.
  FrameLimit(int frames, Capture& capture, Detection& detection);

  // To be called whenever a result was drawn; `is_fresh`: for the first time. New frames count, and
  // a still picture each time that it is drawn.
  void count(const LiveResult& drawn, bool is_fresh);
  bool is_reached() const { return frames_ > 0 && shown_ >= frames_; }

  // Do no more frames come, except for a result that can be taken? Goes on to the next source of a
  // list as long as none could be read.
  bool is_out_of_reach();

  // The exit status, after the run: 2 if no source could be read, 1 if frames or some sources are
  // missing, else 0. Says on standard error what is missing, and why.
  int status() const;

 private:
  std::string why_over() const;

  const int frames_;
  Capture& capture_;
  const Detection& detection_;
  int shown_ = 0;
  bool is_out_of_reach_ = false;
  std::size_t next_ = 0;  // the source of a list to go on to, if none before it can be read
};

}  // namespace facesat::app
