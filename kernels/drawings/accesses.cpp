// What code calls that is compiled with -fsanitize=thread, in place of the sanitizer's own
// functions. Those of std::atomic are missing: kernels have none, and the linker would say so.
#include <cstddef>
#include <utility>

#include "kernels/device/simt/simt.hpp"

namespace {

void accessed(const void* address, std::size_t bytes, bool is_write) {
  if (!simt::observer || !simt::is_running()) return;
  // The listener may be told of its own accesses, by functions of the standard library.
  static bool is_listening = false;
  if (std::exchange(is_listening, true)) return;
  simt::observer->accessed(address, bytes, is_write);
  is_listening = false;
}

}  // namespace

extern "C" {
void __tsan_init();
void __tsan_func_entry(void*);
void __tsan_func_exit();
void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void**, void*);
void __tsan_vptr_update(void**, void*) {}
// Whether a local static variable has been initialised.
char __tsan_atomic8_load(const volatile char*, int);
char __tsan_atomic8_load(const volatile char* address, int) {
  return __atomic_load_n(address, __ATOMIC_ACQUIRE);
}

#define FACESAT_ACCESS(name, bytes, is_write) \
  void __tsan_##name(void*);                  \
  void __tsan_##name(void* address) {         \
    accessed(address, bytes, is_write);       \
  }
#define FACESAT_ACCESSES(bytes)                       \
  FACESAT_ACCESS(read##bytes, bytes, false)           \
  FACESAT_ACCESS(write##bytes, bytes, true)           \
  FACESAT_ACCESS(unaligned_read##bytes, bytes, false) \
  FACESAT_ACCESS(unaligned_write##bytes, bytes, true)
FACESAT_ACCESSES(1)
FACESAT_ACCESSES(2)
FACESAT_ACCESSES(4)
FACESAT_ACCESSES(8)
FACESAT_ACCESSES(16)
#undef FACESAT_ACCESSES
#undef FACESAT_ACCESS

void __tsan_read_range(void*, std::size_t);
void __tsan_write_range(void*, std::size_t);
void __tsan_read_range(void* address, std::size_t bytes) {
  accessed(address, bytes, false);
}
void __tsan_write_range(void* address, std::size_t bytes) {
  accessed(address, bytes, true);
}
}
