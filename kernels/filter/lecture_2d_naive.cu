// Two-dimensional convolution as it is defined.
//
// Idea: a thread per pixel reads the whole window from global memory, and decides for each of its
//   places whether it lies within the picture.
// Shapes: blocks of 32 x 8 threads.
// Reads per pixel: one for each weight; neighbours read the same pixels, which only caches keep.
// Launches: 1.
// Workspace: none.
// Source: lecture on convolution and integral images, "2D Convolution", the exercise's first part.
#include "kernels/filter/naive.cuh"

namespace facesat::gpu {
namespace {

void enqueue(const FilterTask& task, void*, StreamHandle stream) {
  with_pass(task, [&](const auto& pass) { launch_naive(pass, stream); });
}

}  // namespace

const FilterAlgorithm lecture_2d_naive{
    .id = "lecture_2d_naive",
    .title = "A thread per pixel reads its window",
    .source = "lecture",
    .reads = reads_of_window,
    .workspace_bytes = no_workspace,
    .enqueue = enqueue,
};

}  // namespace facesat::gpu
