// NVIDIA's closed libraries, which are measured beside this project's own code where they are
// installed. They are loaded at run time; the build does not need them.
#pragma once

#include <string>
#include <utility>

#include <dlfcn.h>

namespace facesat::gpu {

// Never closed.
class NvidiaLibrary {
 public:
  // For example "NPP", "libnppist".
  NvidiaLibrary(std::string title, const std::string& file) : title_(std::move(title)) {
    for (const char* version : {".so.13", ".so.12", ".so"})
      if (!library_) library_ = dlopen((file + version).c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library_) {
      const char* const reason = dlerror();
      why_none_ = title_ + " cannot be used: " + (reason ? reason : "unknown");
    }
  }

  // Finds a function, or sets it to null.
  template <class Function>
  void find(const char* name, Function*& function) {
    void* const found = library_ ? dlsym(library_, name) : nullptr;
    if (!found && why_none_.empty()) why_none_ = title_ + " cannot be used: it has no " + name;
    function = reinterpret_cast<Function*>(found);
  }
  // Why it cannot be used; empty if all functions were found.
  const std::string& why_none() const { return why_none_; }

 private:
  std::string title_;
  void* library_ = nullptr;
  std::string why_none_;
};

}  // namespace facesat::gpu
