// The end of the X server while the program runs, as when a session or a remote connection ends.
#pragma once

#include <functional>

namespace facesat::app {

// As long as this object exists, and after GLFW was initialised, the loss of the connection to the
// X server calls `act`, which must not use the window, and then ends the program with status 3.
// Xlib would end it at once, without a word. At most one such object may exist.
class DisplayLoss {
 public:
  explicit DisplayLoss(std::function<void()> act);
  ~DisplayLoss();
  DisplayLoss(const DisplayLoss&) = delete;
  DisplayLoss& operator=(const DisplayLoss&) = delete;
};

}  // namespace facesat::app
