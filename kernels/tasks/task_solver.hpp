// A way to solve a problem that is a task array, on a GPU: the contract of all of them. Includes no
// CUDA headers.
#pragma once

#include <cstddef>
#include <string_view>

#include "kernels/device/stream.hpp"
#include "kernels/registry.hpp"

namespace facesat::gpu {

// `Task` is the problem with its arrays in device memory.
template <class Task>
struct TaskSolver {
  std::string_view id, title, source;

  // Bytes of scratch memory for a problem, whose arrays are not looked at. The memory belongs to
  // the caller, starts on a 256-byte boundary, must be zero before the first use for problems of
  // this size, and is left ready for the next use. Only one call's launches at a time may use it.
  std::size_t (*workspace_bytes)(const Task&);
  int (*launches)(const Task&);
  // Enqueues the whole solution; allocates nothing, waits for nothing. Throws CudaError.
  void (*enqueue)(const Task&, void* workspace, StreamHandle stream);
};

}  // namespace facesat::gpu
