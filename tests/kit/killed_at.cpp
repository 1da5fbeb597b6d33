// A library to be preloaded: kills the program at one of its calls that change files.
// FACESAT_KILLED_AT is the number of that call, from 1; a write is done by half.
#include <atomic>
#include <csignal>
#include <cstdlib>

#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

namespace {

// Counts a call. Is it the one?
bool is_last() {
  static std::atomic<int> calls = 0;
  const char* const last = std::getenv("FACESAT_KILLED_AT");
  return last && ++calls == std::atoi(last);
}

template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

template <class Function, class... Arguments>
int call(const char* name, Arguments... arguments) {
  if (is_last()) ::raise(SIGKILL);
  return next<Function>(name)(arguments...);
}

}  // namespace

extern "C" {

ssize_t write(int descriptor, const void* bytes, size_t count) {
  static auto* const original = next<ssize_t(int, const void*, size_t)>("write");
  if (descriptor > STDERR_FILENO && is_last()) {
    [[maybe_unused]] const ssize_t half = original(descriptor, bytes, count / 2);
    ::raise(SIGKILL);
  }
  return original(descriptor, bytes, count);
}

int ftruncate(int descriptor, off_t size) noexcept {
  return call<int(int, off_t)>("ftruncate", descriptor, size);
}

int rename(const char* from, const char* to) noexcept {
  return call<int(const char*, const char*)>("rename", from, to);
}

int unlink(const char* file) noexcept {
  return call<int(const char*)>("unlink", file);
}

int remove(const char* file) noexcept {
  return call<int(const char*)>("remove", file);
}

}  // extern "C"
