// Hillis and Steele's scan by recursive doubling, the first one on a GPU.
//
// Idea: in step s, every element takes in the element 2^s before it; after log2 n steps each has
//   taken in all elements before it. Each step is a launch that reads one array and writes another.
// Shapes: one thread per element.
// Reads and writes per element: almost 2 log2 n, log2 n.
// Launches: log2 n.
// Workspace: two arrays.
// Source: D. Horn, "Stream Reduction Operations for GPGPU Applications", GPU Gems 2, chapter 36,
//   2005; W. D. Hillis and G. L. Steele, "Data Parallel Algorithms", CACM 29(12), 1986.
#include <algorithm>

#include "kernels/scan/recursive.cuh"

namespace facesat::gpu {
namespace {

ScanCost cost(const ScanTask& task) {
  const int steps = doubling_steps(task.n);
  double reads = 0;
  for (int step = 0; step < steps; ++step)
    reads += 2 - std::min(static_cast<double>(1 << step) / task.n, 1.0);
  return {.launches = steps, .reads = reads, .writes = static_cast<double>(steps)};
}

std::size_t workspace_bytes(const ScanTask& task) {
  return 2 * static_cast<std::size_t>(task.n) * info_of(task.type).bytes;
}

void enqueue(const ScanTask& task, void* workspace, StreamHandle stream) {
  with_pass(task, [&]<class Pass>(const Pass& pass) {
    enqueue_recursive_doubling(pass, static_cast<typename Pass::T*>(workspace), stream);
  });
}

}  // namespace

const ScanAlgorithm horn_2005{
    .id = "horn_2005",
    .title = "Hillis-Steele: recursive doubling in global memory",
    .source = "Horn: Stream Reduction Operations for GPGPU Applications, GPU Gems 2, 2005",
    .year = 2005,
    .cost = cost,
    .workspace_bytes = workspace_bytes,
    .enqueue = enqueue,
};

}  // namespace facesat::gpu
