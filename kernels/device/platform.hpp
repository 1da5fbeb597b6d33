// What kernels are written in: CUDA, and the few things that have a second implementation to run
// kernels on the host for tests: launches, shared arrays, and memory that blocks share.
// FACESAT_SIMT is defined when kernels are compiled for the host.
#pragma once

#include "kernels/device/stream.hpp"

#if defined(FACESAT_SIMT)
#include "kernels/device/platform_host.hpp"
#else
#include "kernels/device/platform_gpu.hpp"
#endif
