// Two-dimensional convolution of a copy in pitched memory.
//
// Idea: rows start on boundaries of 512 bytes, as cudaMallocPitch makes them, so that a warp's
// reads
//   are whole lines of memory, whatever the width.
// Shapes: blocks of 32 x 8 threads.
// Reads per pixel: one for the copy, then one for each weight.
// Launches: a copy and a kernel.
// Workspace: the copy.
// Source: lecture on convolution and integral images, appendix "Memory pitch and 2D layouts".
#include "kernels/filter/copy_rows.hpp"
#include "kernels/filter/naive.cuh"

namespace facesat::gpu {
namespace {

constexpr std::size_t line = 512;

std::size_t pitch_bytes(const FilterTask& task) {
  const std::size_t row =
      static_cast<std::size_t>(task.size.width) * info_of(task.type).input_bytes;
  return (row + line - 1) / line * line;
}

std::size_t workspace_bytes(const FilterTask& task) {
  return pitch_bytes(task) * static_cast<std::size_t>(task.size.height);
}

double reads(const FilterTask& task) {
  return 1 + reads_of_window(task);
}

void enqueue(const FilterTask& task, void* workspace, StreamHandle stream) {
  with_pass(task, [&]<class Pass>(Pass pass) {
    constexpr std::size_t element = sizeof(typename Pass::In);
    enqueue_copy_of_rows(workspace, pitch_bytes(task), pass.input,
                         static_cast<std::size_t>(pass.input_pitch) * element,
                         static_cast<std::size_t>(pass.size.width) * element, pass.size.height,
                         stream);
    pass.input = static_cast<const typename Pass::In*>(workspace);
    pass.input_pitch = static_cast<std::ptrdiff_t>(pitch_bytes(task) / element);
    launch_naive(pass, stream);
  });
}

}  // namespace

const FilterAlgorithm lecture_2d_pitched{
    .id = "lecture_2d_pitched",
    .title = "A copy in pitched memory first",
    .source = "lecture",
    .reads = reads,
    .launches = 2,
    .workspace_bytes = workspace_bytes,
    .enqueue = enqueue,
};

}  // namespace facesat::gpu
