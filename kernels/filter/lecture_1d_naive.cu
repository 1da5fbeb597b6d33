// One-dimensional convolution along rows, as it is defined; a stencil if all weights are 1.
//
// Idea: a thread per element reads its window from global memory. A signal is a picture of one row.
// Shapes: blocks of 256 threads, which never span two rows.
// Reads per element: one for each weight.
// Launches: 1.
// Workspace: none.
// Source: lecture on convolution and integral images, "Application: 1D stencil" and its exercise.
#include "kernels/filter/naive.cuh"

namespace facesat::gpu {
namespace {

constexpr int threads = 256;

template <bool ones, class Pass>
__global__ void __launch_bounds__(threads) naive_row_kernel(Pass pass) {
  const auto [x, y] = place_of_thread();
  if (!pass.has(x, y)) return;
  typename Pass::Sum sum{};
  for (int i = 0; i < pass.radius.columns(); ++i) {
    const auto value = value_of<Pass>(pass.at(x + pass.radius.x - i, y));
    sum += ones ? value : pass.weights[i] * value;
  }
  pass.store(x, y, sum);
}

void enqueue(const FilterTask& task, void*, StreamHandle stream) {
  with_pass(task, [&]<class Pass>(const Pass& pass) {
    const dim3 grid = grid_of(pass.size, threads, 1);
    if (task.mask.kind == MaskKind::ones)
      FACESAT_LAUNCH((naive_row_kernel<true, Pass>), grid, dim3(threads), stream, pass);
    else
      FACESAT_LAUNCH((naive_row_kernel<false, Pass>), grid, dim3(threads), stream, pass);
  });
}

}  // namespace

const FilterAlgorithm lecture_1d_naive{
    .id = "lecture_1d_naive",
    .title = "A thread per element reads its window",
    .source = "lecture",
    .is_1d = true,
    .reads = reads_of_window,
    .workspace_bytes = no_workspace,
    .enqueue = enqueue,
};

}  // namespace facesat::gpu
