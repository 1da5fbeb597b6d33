// Separable convolution: rows and transpose, twice.
//
// Idea: columns are rows of the transposed picture, so that one kernel convolves both, and all
//   accesses are coalesced.
// Shapes: blocks of 256 threads for rows; tiles of 32 x 32 elements, by 32 x 8 threads, to
// transpose. Reads per pixel: (256 + 2 radius) / 256 for each direction, and two to transpose.
// Launches: 4.
// Workspace: two arrays of sums, 4 bytes each.
// Source: lecture on convolution and integral images, "Algorithm: 1. original image, 2. row conv1D,
//   3. transpose, 4. row conv1D, 5. transpose".
#include "kernels/filter/row_tile.cuh"

namespace facesat::gpu {
namespace {

constexpr int tile = 32, tile_rows = 8;

// An array without gaps between rows.
template <class T>
struct Dense {
  Size size;
  T* elements;

  __device__ T& at(int x, int y) const {
    return elements[static_cast<std::ptrdiff_t>(y) * size.width + x];
  }
};

// Convolves rows. `from(x, y)` is an element of the source, at any place of a row.
template <class T, class From, class Sum>
__device__ __forceinline__ void convolve_rows(From from, const Sum* weights, int radius,
                                              Dense<Sum> to) {
  const auto [x, y] = place_of_thread();
  const int first = static_cast<int>(blockIdx.x) * row_threads;
  load_row_tile<T>(first, radius, [&](int place) { return from(place, y); });
  if (x >= to.size.width) return;
  to.at(x, y) =
      convolved_in_row_tile<T, Sum>(radius, [&](int i, Sum value) { return weights[i] * value; });
}

template <class Pass>
__global__ void __launch_bounds__(row_threads)
    rows_of_picture_kernel(Pass pass, Dense<typename Pass::Sum> to) {
  convolve_rows<typename Pass::In>([&](int x, int y) { return pass.at(x, y); }, pass.row,
                                   pass.radius.x, to);
}

// Of sums along columns of the picture, which are rows here.
template <class Pass>
__global__ void __launch_bounds__(row_threads)
    rows_of_sums_kernel(Pass pass, Dense<typename Pass::Sum> from, Dense<typename Pass::Sum> to) {
  using Sum = typename Pass::Sum;
  convolve_rows<Sum>(
      [&](int x, int y) {
        const int source = source_of(x, from.size.width, pass.border);
        return source == no_source ? Sum{} : from.at(source, y);
      },
      pass.column, pass.radius.y, to);
}

// Calls store(x, y, sum) for each element of the transpose.
template <class Sum, class Store>
__device__ __forceinline__ void transpose(Dense<Sum> from, Store store) {
  __shared__ SharedArray<Sum, tile*(tile + 1)> elements;
  const int i = static_cast<int>(threadIdx.x), j = static_cast<int>(threadIdx.y);
  const int left = static_cast<int>(blockIdx.x) * tile, top = static_cast<int>(blockIdx.y) * tile;
  for (int row = j; row < tile; row += tile_rows)
    if (left + i < from.size.width && top + row < from.size.height)
      elements[row * (tile + 1) + i] = from.at(left + i, top + row);
  __syncthreads();
  for (int row = j; row < tile; row += tile_rows)
    if (top + i < from.size.height && left + row < from.size.width)
      store(top + i, left + row, static_cast<Sum>(elements[i * (tile + 1) + row]));
}

template <class Pass>
__global__ void transpose_kernel(Dense<typename Pass::Sum> from, Dense<typename Pass::Sum> to) {
  using Sum = typename Pass::Sum;
  transpose(from, [&](int x, int y, Sum sum) { to.at(x, y) = sum; });
}

template <class Pass>
__global__ void transpose_to_result_kernel(Pass pass, Dense<typename Pass::Sum> from) {
  using Sum = typename Pass::Sum;
  transpose(from, [&](int x, int y, Sum sum) { pass.store(x, y, sum); });
}

std::size_t bytes_of_sums(const FilterTask& task) {
  return whole_parts(static_cast<std::size_t>(task.size.area()) * 4);
}

std::size_t workspace_bytes(const FilterTask& task) {
  return 2 * bytes_of_sums(task);
}

double reads(const FilterTask& task) {
  return 4 + 2.0 * (task.mask.radius.x + task.mask.radius.y) / row_threads;
}

void enqueue(const FilterTask& task, void* workspace, StreamHandle stream) {
  with_pass(task, [&]<class Pass>(const Pass& pass) {
    using Sum = typename Pass::Sum;
    const Size size = pass.size, turned{size.height, size.width};
    auto* const first = static_cast<Sum*>(workspace);
    auto* const second = first + bytes_of_sums(task) / sizeof(Sum);
    const dim3 threads(tile, tile_rows);
    FACESAT_LAUNCH_SHARED(rows_of_picture_kernel<Pass>, grid_of(size, row_threads, 1),
                          dim3(row_threads),
                          row_tile_bytes(pass.radius.x, sizeof(typename Pass::In)), stream, pass,
                          (Dense<Sum>{size, first}));
    FACESAT_LAUNCH(transpose_kernel<Pass>, grid_of(size, tile, tile), threads, stream,
                   (Dense<Sum>{size, first}), (Dense<Sum>{turned, second}));
    FACESAT_LAUNCH_SHARED(rows_of_sums_kernel<Pass>, grid_of(turned, row_threads, 1),
                          dim3(row_threads), row_tile_bytes(pass.radius.y, sizeof(Sum)), stream,
                          pass, (Dense<Sum>{turned, second}), (Dense<Sum>{turned, first}));
    FACESAT_LAUNCH(transpose_to_result_kernel<Pass>, grid_of(turned, tile, tile), threads, stream,
                   pass, (Dense<Sum>{turned, first}));
  });
}

}  // namespace

const FilterAlgorithm lecture_separable_transposed{
    .id = "lecture_separable_transposed",
    .title = "Rows and transpose, twice",
    .source = "lecture",
    .takes = MaskKind::separable,
    .reads = reads,
    .launches = 4,
    .workspace_bytes = workspace_bytes,
    .enqueue = enqueue,
};

}  // namespace facesat::gpu
