// Lets a benchmark see the kernels that its thread launches.
#pragma once

#include <cstddef>
#include <utility>

#include <cuda_runtime_api.h>

namespace facesat::gpu {

struct Launch {
  const char* kernel;    // as it is written in the source
  const void* function;  // for cudaFuncGetAttributes
  dim3 grid, block;
  std::size_t dynamic_bytes;  // of shared memory
};

class LaunchObserver {
 public:
  virtual void launched(const Launch& launch) = 0;

 protected:
  ~LaunchObserver() = default;
};

// Called after each FACESAT_LAUNCH of this thread; usually null.
inline constinit thread_local LaunchObserver* launch_observer = nullptr;

// Calls launch() with an observer of what it launches.
template <class LaunchAll>
void observe(LaunchObserver& observer, LaunchAll launch) {
  struct Restore {
    LaunchObserver* before;
    ~Restore() { launch_observer = before; }
  };
  const Restore restore{std::exchange(launch_observer, &observer)};
  launch();
}

template <class... Parameters>
const void* address_of(void (*kernel)(Parameters...)) {
  return reinterpret_cast<const void*>(kernel);
}

}  // namespace facesat::gpu
