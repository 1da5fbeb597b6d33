// A virtual display for tests of the window, and scripts that act there as its user.
#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

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

}  // namespace facesat::test
