// The scan of a few elements by the CPU, between two kernels of a stream.
#pragma once

#include <cstddef>

#include "kernels/scan/algorithm.hpp"

namespace facesat::gpu {

// Bytes at the begin of the workspace that enqueue_host_scan() uses.
inline constexpr std::size_t host_scan_bytes = 256;

// Enqueues a scan by the CPU, in order with the kernels of the stream. The task's arrays and the
// workspace are in page-locked memory; settings are ignored. Throws CudaError.
void enqueue_host_scan(const ScanTask& task, void* workspace, StreamHandle stream);

}  // namespace facesat::gpu
