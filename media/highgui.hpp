// OpenCV's windows. They are in a module of their own (highgui_module/), because they depend on a
// GUI toolkit, which nothing else needs.
#pragma once

#include <memory>
#include <string>

#include "core/image.hpp"

namespace facesat {

// A window that shows one picture at a time. It appears with the first one. To be used by one
// thread alone: the main one, as toolkits demand.
class PictureWindow {
 public:
  enum class Answer { none, next, end };

  virtual ~PictureWindow() = default;
  // Shows a picture, which is shrunk if it would not fit on the screen.
  virtual void show(View<const Bgr> picture, const std::string& title) = 0;
  // Handles events until the user answers, for that long at most: by a key that shows the next
  // picture (space, n, Right, Enter), or by one that ends (q, Esc), as does closing the window.
  virtual Answer wait(int milliseconds) = 0;
};

// The functions of that module.
struct HighGui {
  // Connects to the display. Throws, or ends the process, if that is not possible.
  void (*connect)();

  // To be called in the main thread; connects if necessary.
  std::unique_ptr<PictureWindow> (*make_window)();
};

// Loads the module on the first call, and checks in a child process that it can connect to the
// display. To be called for the first time before other threads start. Throws UsageError if there
// is no display or this build has no windows, InputError if the module cannot be loaded.
const HighGui& highgui();

}  // namespace facesat
