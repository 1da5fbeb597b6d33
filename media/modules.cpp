// Modules: shared libraries next to the program, which hold what depends on large libraries, and
// are loaded when they are first needed.
#include <cerrno>
#include <cstdlib>

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "media/codec_formats.hpp"
#include "media/highgui.hpp"
#include "media/opencv.hpp"
#include "support/errors.hpp"

namespace facesat {
namespace {

// Loads the module and returns its table of functions. It is never unloaded, because objects that
// it created may live to the end of the program. Throws InputError if it is missing, or if there is
// too little memory for it.
template <class Functions>
[[maybe_unused]] const Functions& load_module(const char* file, const char* table) {
  void* const library = dlopen(file, RTLD_LAZY | RTLD_LOCAL);
  const void* const symbol = library ? dlsym(library, table) : nullptr;
  if (!symbol) throw InputError("read", fmt::format("a module cannot be loaded: {}", dlerror()));
  return *static_cast<const Functions*>(symbol);
}

// Qt aborts if it cannot connect, after messages of its own.
[[maybe_unused]] bool can_connect(const HighGui& module) {
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

}  // namespace

#ifdef FACESAT_OPENCV_MODULE
bool has_opencv() {
  return true;
}
const OpenCv& opencv() {
  static const OpenCv& loaded = load_module<OpenCv>(FACESAT_OPENCV_MODULE, "facesat_opencv");
  return loaded;
}
#else
bool has_opencv() {
  return false;
}
const OpenCv& opencv() {
  throw InputError("decode", "this build has no OpenCV");
}
#endif

#ifdef FACESAT_HEIF_MODULE
Picture read_heif(std::span<const unsigned char> file, const DecodeLimits& limits) {
  static const Heif& loaded = load_module<Heif>(FACESAT_HEIF_MODULE, "facesat_heif");
  return loaded.read(file, limits);
}
#endif

#ifdef FACESAT_HIGHGUI_MODULE
const HighGui& highgui() {
  static const HighGui& loaded = [&]() -> const HighGui& {
    const auto& module = load_module<HighGui>(FACESAT_HIGHGUI_MODULE, "facesat_highgui");
    if (can_connect(module)) return module;
    const char* const display = std::getenv("DISPLAY");
    throw UsageError(display
                         ? fmt::format("no window can be opened on the display \"{}\"", display)
                         : "there is no display to open a window on; over SSH, 'ssh -X' gives one");
  }();
  return loaded;
}
#else
const HighGui& highgui() {
  throw UsageError("this build shows no pictures (it was made without OpenCV's highgui)");
}
#endif

}  // namespace facesat
