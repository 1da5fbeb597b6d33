// A display for the tests of the window, and what its user would do.
#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

namespace facesat::test {

// Xvfb, while it lives; it chooses a free number by itself.
class VirtualDisplay {
 public:
  VirtualDisplay();
  ~VirtualDisplay();
  VirtualDisplay(const VirtualDisplay&) = delete;
  VirtualDisplay& operator=(const VirtualDisplay&) = delete;

  // Runs a script with this display; $window is the program's, once it is there. False: no window
  // came, or a command failed. xdotool must be installed.
  bool act(const std::string& script) const;

  std::string name;  // empty: there is no Xvfb

 private:
  pid_t process_ = -1;
};

bool has_program(const std::string& name);

}  // namespace facesat::test
