#include "media/highgui.hpp"

#include <cerrno>
#include <cstdlib>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "media/load_module.hpp"
#include "support/errors.hpp"

namespace facesat {
namespace {

// Qt aborts if it cannot connect, after messages of its own.
bool can_connect(const HighGui& module) {
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit no_core_file{0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core_file);
    ::dup2(::open("/dev/null", O_WRONLY | O_CLOEXEC), STDERR_FILENO);
    try {
      module.connect();
    } catch (...) {
      ::_exit(1);
    }
    ::_exit(0);
  }
  int status = 0;
  pid_t ended = -1;
  do {
    ended = ::waitpid(child, &status, 0);
  } while (ended < 0 && errno == EINTR);
  return child > 0 && ended == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

const HighGui& load() {
  const auto& module =
      *static_cast<const HighGui*>(load_module(FACESAT_HIGHGUI_MODULE, "facesat_highgui"));
  if (can_connect(module)) return module;
  const char* const display = std::getenv("DISPLAY");
  throw UsageError(display
                       ? fmt::format("no window can be opened on the display \"{}\"", display)
                       : "there is no display to open a window on; over SSH, 'ssh -X' gives one");
}

}  // namespace

const HighGui& highgui() {
  static const HighGui& loaded = load();
  return loaded;
}

}  // namespace facesat
