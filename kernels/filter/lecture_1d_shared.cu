// One-dimensional convolution along rows in shared memory; a stencil if all weights are 1.
//
// Idea: a block copies its elements, and as many as the radius on either side, to shared memory,
//   where neighbours find what they have in common.
// Shapes: blocks of 256 threads, which never span two rows; tiles of 256 + 2 radius elements.
// Reads per element: (256 + 2 radius) / 256.
// Launches: 1.
// Workspace: none.
// Source: lecture on convolution and integral images, "GPU shared memory" and its exercise.
#include "kernels/filter/row_tile.cuh"

namespace facesat::gpu {
namespace {

template <bool ones, class Pass>
__global__ void __launch_bounds__(row_threads) shared_row_kernel(Pass pass) {
  using In = typename Pass::In;
  using Sum = typename Pass::Sum;
  const auto [x, y] = place_of_thread();
  const int first = static_cast<int>(blockIdx.x) * row_threads;
  load_row_tile<In>(first, pass.radius.x, [&](int from) { return pass.at(from, y); });
  if (!pass.has(x, y)) return;
  pass.store(x, y, convolved_in_row_tile<In, Sum>(pass.radius.x, [&](int i, Sum value) {
               return ones ? value : pass.weights[i] * value;
             }));
}

double reads(const FilterTask& task) {
  return (row_threads + 2.0 * task.mask.radius.x) / row_threads;
}

void enqueue(const FilterTask& task, void*, StreamHandle stream) {
  with_pass(task, [&]<class Pass>(const Pass& pass) {
    const dim3 grid = grid_of(pass.size, row_threads, 1);
    const std::size_t bytes = row_tile_bytes(pass.radius.x, sizeof(typename Pass::In));
    if (task.mask.kind == MaskKind::ones)
      FACESAT_LAUNCH_SHARED((shared_row_kernel<true, Pass>), grid, dim3(row_threads), bytes, stream,
                            pass);
    else
      FACESAT_LAUNCH_SHARED((shared_row_kernel<false, Pass>), grid, dim3(row_threads), bytes,
                            stream, pass);
  });
}

}  // namespace

const FilterAlgorithm lecture_1d_shared{
    .id = "lecture_1d_shared",
    .title = "Shared memory, with as many elements as the radius on either side",
    .source = "lecture",
    .is_1d = true,
    .reads = reads,
    .workspace_bytes = no_workspace,
    .enqueue = enqueue,
};

}  // namespace facesat::gpu
