// A desktop for tests of windows: a virtual display, scripts that act there as its user, and what a
// window manager does, over the X protocol, because there is none on that display.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <sys/types.h>

#include "core/image.hpp"
#include "tests/kit/eventually.hpp"

namespace facesat::test {

// Runs Xvfb, an X server without a screen, while this object exists. Xvfb chooses a free display
// number by itself.
class VirtualDisplay {
 public:
  VirtualDisplay();
  ~VirtualDisplay();
  VirtualDisplay(const VirtualDisplay&) = delete;
  VirtualDisplay& operator=(const VirtualDisplay&) = delete;

  // Waits for a window, by default that of `facesat live`, then runs a shell script on this
  // display, in which $window is the window's ID. False: no window appeared, or the script's last
  // command failed. xdotool must be installed. `window`: options of 'xdotool search'.
  bool act(const std::string& script, const std::string& window = "--class '^facesat$'") const;

  void end();  // Xvfb, as when it crashes

  std::string name;  // the value for DISPLAY, such as ":99"; empty: Xvfb is not available

 private:
  pid_t process_ = -1;
};

// Whether the shell finds a program of this name.
bool has_program(const std::string& name);

// Acts on a program's window as a desktop does.
class Desktop {
 public:
  // Waits until the display has a visible window of this class or with this title; is_there() says
  // whether one appeared.
  Desktop(const std::string& display, const std::string& window);
  ~Desktop();
  Desktop(const Desktop&) = delete;
  Desktop& operator=(const Desktop&) = delete;

  bool is_there() const;
  std::string title() const;
  Rect place() const;  // on the display
  void place(const Rect& there);
  void resize(Size size);
  void minimise();
  void restore();
  void close();  // as the close button of a title bar does
  // Drops files onto the window, all at once. True: the window accepted them.
  bool drop(const std::vector<std::string>& files);
  bool drop(const std::string& file) { return drop(std::vector{file}); }

  // The number of the window's pixels that have this colour now.
  int count(Bgr colour) const;
  // Waits until the window has this title. False: as for shows().
  bool is_titled(const std::string& title) const;
  // Waits until at least `pixels` pixels have this colour. False: they did not within patience().
  bool shows(Bgr colour, int pixels) const;

 private:
  struct Connection;
  std::unique_ptr<Connection> x_;
};

}  // namespace facesat::test
