// Kernels are written in CUDA and in what this header provides: a few functions and types with a
// second implementation that runs kernels on the host for tests (launches, shared arrays, memory
// that blocks share). FACESAT_SIMT is defined when kernels are compiled for the host.
#pragma once

#include <cstddef>

#include "kernels/device/stream.hpp"

#if defined(FACESAT_SIMT)
#include "kernels/device/platform_host.hpp"
#else
#include "kernels/device/platform_gpu.hpp"
#endif

namespace facesat::gpu {

// The parts of a workspace begin on boundaries of 256 bytes.
constexpr std::size_t round_up_256(std::size_t bytes) {
  return (bytes + 255) / 256 * 256;
}

}  // namespace facesat::gpu
