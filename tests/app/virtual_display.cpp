#include "tests/app/virtual_display.hpp"

#include <csignal>
#include <cstdlib>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace facesat::test {

VirtualDisplay::VirtualDisplay() {
  int ends[2];
  if (pipe(ends) != 0) return;
  process_ = fork();
  if (process_ == 0) {
    // Xvfb writes its display number to descriptor 3, the end of the pipe.
    dup2(ends[1], 3);
    const int nowhere = open("/dev/null", O_RDWR);
    for (const int descriptor : {0, 1, 2}) dup2(nowhere, descriptor);
    execlp("Xvfb", "Xvfb", "-displayfd", "3", "-noreset", "-screen", "0", "1400x900x24", nullptr);
    _exit(127);  // Xvfb is not installed
  }
  close(ends[1]);
  std::string number;
  for (char c; read(ends[0], &c, 1) == 1 && c != '\n';) number += c;
  close(ends[0]);
  if (!number.empty()) name = ":" + number;
}

VirtualDisplay::~VirtualDisplay() {
  end();
}

void VirtualDisplay::end() {
  if (process_ <= 0) return;
  kill(process_, SIGTERM);
  waitpid(process_, nullptr, 0);
  process_ = -1;
}

bool VirtualDisplay::act(const std::string& script, const std::string& window) const {
  const std::string command =
      "export DISPLAY=" + name + "; window=$(timeout 240 xdotool search --sync --onlyvisible " +
      window + " | head -n 1) && [ -n \"$window\" ] && { " + script + "\n} >/dev/null 2>&1";
  return std::system(command.c_str()) == 0;
}

bool has_program(const std::string& name) {
  return std::system(("command -v " + name + " >/dev/null").c_str()) == 0;
}

}  // namespace facesat::test
