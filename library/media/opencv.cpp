#include "library/media/opencv.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include "library/support/errors.hpp"

namespace facesat {
namespace {

// The library is never unloaded, because objects that it created may live to the end of the
// program.
const OpenCv& load() {
  void* const library = dlopen(FACESAT_OPENCV_MODULE, RTLD_LAZY | RTLD_LOCAL);
  void* const symbol = library ? dlsym(library, "facesat_opencv") : nullptr;
  if (!symbol) throw InputError("read", fmt::format("OpenCV cannot be loaded: {}", dlerror()));
  return *static_cast<const OpenCv*>(symbol);
}

}  // namespace

const OpenCv& opencv() {
  static const OpenCv& loaded = load();
  return loaded;
}

}  // namespace facesat
