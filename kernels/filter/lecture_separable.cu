// Separable convolution: along rows, then along columns.
//
// Idea: of (2 radius + 1)^2 products, 2 (2 radius + 1) are left. The first kernel convolves rows in
//   shared memory; the second one convolves columns of its sums, a thread per pixel, so that a
//   warp's reads are adjacent.
// Shapes: blocks of 256 threads for rows, of 32 x 8 for columns.
// Reads per pixel: (256 + 2 radius) / 256 and one for each weight of the column.
// Launches: 2.
// Workspace: the sums along rows, 4 bytes each.
// Source: lecture on convolution and integral images, "Some kernels are separable".
#include "kernels/filter/naive.cuh"
#include "kernels/filter/row_tile.cuh"

namespace facesat::gpu {
namespace {

// The sums along rows are in `sums`, without gaps between rows.
template <class Pass>
__global__ void __launch_bounds__(row_threads) rows_kernel(Pass pass, typename Pass::Sum* sums) {
  using In = typename Pass::In;
  using Sum = typename Pass::Sum;
  const auto [x, y] = place_of_thread();
  const int first = static_cast<int>(blockIdx.x) * row_threads;
  load_row_tile<In>(first, pass.radius.x, [&](int from) { return pass.at(from, y); });
  if (!pass.has(x, y)) return;
  sums[static_cast<std::ptrdiff_t>(y) * pass.size.width + x] = convolved_in_row_tile<In, Sum>(
      pass.radius.x, [&](int i, Sum value) { return pass.row[i] * value; });
}

template <class Pass>
__global__ void __launch_bounds__(naive_width* naive_height)
    columns_kernel(Pass pass, const typename Pass::Sum* sums) {
  const auto [x, y] = place_of_thread();
  if (!pass.has(x, y)) return;
  typename Pass::Sum sum{};
  for (int i = 0; i < pass.radius.rows(); ++i) {
    const int row = source_of(y + pass.radius.y - i, pass.size.height, pass.border);
    if (row != no_source)
      sum += pass.column[i] * sums[static_cast<std::ptrdiff_t>(row) * pass.size.width + x];
  }
  pass.store(x, y, sum);
}

std::size_t workspace_bytes(const FilterTask& task) {
  return static_cast<std::size_t>(task.size.area()) * 4;
}

double reads(const FilterTask& task) {
  return (row_threads + 2.0 * task.mask.radius.x) / row_threads + task.mask.radius.rows();
}

void enqueue(const FilterTask& task, void* workspace, StreamHandle stream) {
  with_pass(task, [&]<class Pass>(const Pass& pass) {
    auto* const sums = static_cast<typename Pass::Sum*>(workspace);
    FACESAT_LAUNCH_SHARED(rows_kernel<Pass>, grid_of(pass.size, row_threads, 1), dim3(row_threads),
                          row_tile_bytes(pass.radius.x, sizeof(typename Pass::In)), stream, pass,
                          sums);
    FACESAT_LAUNCH(columns_kernel<Pass>, grid_of(pass.size, naive_width, naive_height),
                   dim3(naive_width, naive_height), stream, pass, sums);
  });
}

}  // namespace

const FilterAlgorithm lecture_separable{
    .id = "lecture_separable",
    .title = "Rows, then columns",
    .source = "lecture",
    .takes = MaskKind::separable,
    .reads = reads,
    .launches = 2,
    .workspace_bytes = workspace_bytes,
    .enqueue = enqueue,
};

}  // namespace facesat::gpu
