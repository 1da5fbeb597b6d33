// A display for the tests of the window, and the actions of its user.
#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

namespace facesat::test {

// Runs Xvfb while it exists; Xvfb chooses a free display number by itself.
class VirtualDisplay {
 public:
  VirtualDisplay();
  ~VirtualDisplay();
  VirtualDisplay(const VirtualDisplay&) = delete;
  VirtualDisplay& operator=(const VirtualDisplay&) = delete;

  // Waits for the program's window and runs a script on this display, with $window set to it.
  // False: no window appeared, or a command failed. xdotool must be installed.
  bool act(const std::string& script) const;

  std::string name;  // empty: Xvfb is not available

 private:
  pid_t process_ = -1;
};

bool has_program(const std::string& name);

}  // namespace facesat::test
