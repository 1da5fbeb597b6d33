#include "media/load_module.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include "support/errors.hpp"

namespace facesat {

const void* load_module(const char* file, const char* table) {
  void* const library = dlopen(file, RTLD_LAZY | RTLD_LOCAL);
  const void* const symbol = library ? dlsym(library, table) : nullptr;
  if (!symbol) throw InputError("read", fmt::format("a module cannot be loaded: {}", dlerror()));
  return symbol;
}

}  // namespace facesat
