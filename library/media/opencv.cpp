#include "library/media/opencv.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include "library/support/errors.hpp"

namespace facesat {
namespace {

// Never unloaded: its objects live as long as somebody holds them.
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
