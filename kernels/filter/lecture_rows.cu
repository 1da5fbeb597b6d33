// The convolutions along rows of a lecture: of one dimension, and separable ones, which are rows
// and then columns. The title of its slide follows each idea.
//
//   1d_naive: as defined; a thread per element reads its window from global memory. A signal is a
//     picture of one row; if all weights are 1, this is a stencil. One read per weight.
//     "Application: 1D stencil" and its exercise.
//   1d_shared: a block copies its elements, and as many as the radius on either side, to shared
//     memory, where neighbours find what they have in common. (256 + 2 radius) / 256 reads. "GPU
//     shared memory" and its exercise.
//   separable: of (2 radius + 1)^2 products, 2 (2 radius + 1) are left. The first kernel convolves
//     rows in shared memory; the second one convolves columns of its sums, a thread per pixel, so
//     that a warp's reads are adjacent. As many reads as 1d_shared, and one for each weight of the
//     column. 2 launches. Workspace: the sums along rows, 4 bytes each. "Some kernels are
//     separable".
//   separable_transposed: columns are rows of the transposed picture, so that one kernel convolves
//     both in shared memory. As many reads as 1d_shared for each direction, and two
//     to transpose. 4 launches. Workspace: two arrays of sums. "Algorithm: 1. original image, 2.
//     row conv1D, 3. transpose, 4. row conv1D, 5. transpose".
// Shapes: blocks of 256 threads for rows, which never span two of them; of 32 x 8 threads for
//   columns, and to transpose tiles of 32 x 32 elements.
// Source: lecture on convolution and integral images.
#include "kernels/filter/pass.cuh"

namespace facesat::gpu {
namespace {

constexpr int row_threads = 256;

// Loads what the convolution of row_threads elements from `first` on needs, with `value(x)` for the
// element at place x of the row: all threads load their own elements; then the first `radius` ones
// load the first and the last missing elements. Includes the barrier.
template <class T, class Value>
__device__ __forceinline__ void load_row_tile(int first, int radius, Value value) {
  const DynamicShared<T> tile;
  const int thread = static_cast<int>(threadIdx.x);
  tile[radius + thread] = value(first + thread);
  for (int i = thread; i < radius; i += row_threads) {
    tile[i] = value(first - radius + i);
    tile[radius + row_threads + i] = value(first + row_threads + i);
  }
  __syncthreads();
}

// The convolution at this thread's element. `product(i, value)` multiplies by weight i.
template <class T, class Sum, class Product>
__device__ __forceinline__ Sum convolved_in_row_tile(int radius, Product product) {
  const DynamicShared<T> tile;
  const int thread = static_cast<int>(threadIdx.x);
  Sum sum{};
  for (int i = 0; i <= 2 * radius; ++i)
    sum += product(i, static_cast<Sum>(static_cast<T>(tile[thread + 2 * radius - i])));
  return sum;
}

std::size_t row_tile_bytes(int radius, std::size_t element) {
  return static_cast<std::size_t>(row_threads + 2 * radius) * element;
}

// ---- 1d_naive ----

template <bool ones, class Pass>
__global__ void __launch_bounds__(row_threads) naive_row_kernel(Pass pass) {
  const auto [x, y] = pixel_of_thread();
  if (!pass.has(x, y)) return;
  typename Pass::Sum sum{};
  for (int i = 0; i < pass.radius.columns(); ++i) {
    const auto value = value_of<Pass>(pass.at(x + pass.radius.x - i, y));
    sum += ones ? value : pass.weights[i] * value;
  }
  pass.store(x, y, sum);
}

void enqueue_naive(const FilterTask& task, void*, StreamHandle stream) {
  with_pass(task, [&]<class Pass>(const Pass& pass) {
    const dim3 grid = grid_of(pass.size, row_threads, 1);
    if (task.mask.kind == MaskKind::ones)
      FACESAT_LAUNCH((naive_row_kernel<true, Pass>), grid, dim3(row_threads), stream, pass);
    else
      FACESAT_LAUNCH((naive_row_kernel<false, Pass>), grid, dim3(row_threads), stream, pass);
  });
}

// ---- 1d_shared ----

template <bool ones, class Pass>
__global__ void __launch_bounds__(row_threads) shared_row_kernel(Pass pass) {
  using In = typename Pass::In;
  using Sum = typename Pass::Sum;
  const auto [x, y] = pixel_of_thread();
  const int first = static_cast<int>(blockIdx.x) * row_threads;
  load_row_tile<In>(first, pass.radius.x, [&](int from) { return pass.at(from, y); });
  if (!pass.has(x, y)) return;
  pass.store(x, y, convolved_in_row_tile<In, Sum>(pass.radius.x, [&](int i, Sum value) {
               return ones ? value : pass.weights[i] * value;
             }));
}

double reads_of_row_tile(const FilterTask& task) {
  return (row_threads + 2.0 * task.mask.radius.x) / row_threads;
}

void enqueue_shared(const FilterTask& task, void*, StreamHandle stream) {
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

// ---- separable ----

constexpr int column_width = 32, column_height = 8;  // threads of a block

// The sums along rows are in `sums`, without gaps between rows.
template <class Pass>
__global__ void __launch_bounds__(row_threads) rows_kernel(Pass pass, typename Pass::Sum* sums) {
  using In = typename Pass::In;
  using Sum = typename Pass::Sum;
  const auto [x, y] = pixel_of_thread();
  const int first = static_cast<int>(blockIdx.x) * row_threads;
  load_row_tile<In>(first, pass.radius.x, [&](int from) { return pass.at(from, y); });
  if (!pass.has(x, y)) return;
  sums[static_cast<std::ptrdiff_t>(y) * pass.size.width + x] = convolved_in_row_tile<In, Sum>(
      pass.radius.x, [&](int i, Sum value) { return pass.row[i] * value; });
}

template <class Pass>
__global__ void __launch_bounds__(column_width* column_height)
    columns_kernel(Pass pass, const typename Pass::Sum* sums) {
  const auto [x, y] = pixel_of_thread();
  if (!pass.has(x, y)) return;
  typename Pass::Sum sum{};
  for (int i = 0; i < pass.radius.rows(); ++i) {
    const int row = source_of(y + pass.radius.y - i, pass.size.height, pass.border);
    if (row != no_source)
      sum += pass.column[i] * sums[static_cast<std::ptrdiff_t>(row) * pass.size.width + x];
  }
  pass.store(x, y, sum);
}

std::size_t separable_bytes(const FilterTask& task) {
  return static_cast<std::size_t>(task.size.area()) * 4;
}

double reads_of_separable(const FilterTask& task) {
  return (row_threads + 2.0 * task.mask.radius.x) / row_threads + task.mask.radius.rows();
}

void enqueue_separable(const FilterTask& task, void* workspace, StreamHandle stream) {
  with_pass(task, [&]<class Pass>(const Pass& pass) {
    auto* const sums = static_cast<typename Pass::Sum*>(workspace);
    FACESAT_LAUNCH_SHARED(rows_kernel<Pass>, grid_of(pass.size, row_threads, 1), dim3(row_threads),
                          row_tile_bytes(pass.radius.x, sizeof(typename Pass::In)), stream, pass,
                          sums);
    FACESAT_LAUNCH(columns_kernel<Pass>, grid_of(pass.size, column_width, column_height),
                   dim3(column_width, column_height), stream, pass, sums);
  });
}

// ---- separable_transposed ----

constexpr int side = 32, side_rows = 8;

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
  const auto [x, y] = pixel_of_thread();
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
  __shared__ SharedArray<Sum, side*(side + 1)> elements;
  const int i = static_cast<int>(threadIdx.x), j = static_cast<int>(threadIdx.y);
  const int left = static_cast<int>(blockIdx.x) * side, top = static_cast<int>(blockIdx.y) * side;
  for (int row = j; row < side; row += side_rows)
    if (left + i < from.size.width && top + row < from.size.height)
      elements[row * (side + 1) + i] = from.at(left + i, top + row);
  __syncthreads();
  for (int row = j; row < side; row += side_rows)
    if (top + i < from.size.height && left + row < from.size.width)
      store(top + i, left + row, static_cast<Sum>(elements[i * (side + 1) + row]));
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
  return round_up_256(static_cast<std::size_t>(task.size.area()) * 4);
}

std::size_t transposed_bytes(const FilterTask& task) {
  return 2 * bytes_of_sums(task);
}

double reads_of_transposed(const FilterTask& task) {
  return 4 + 2.0 * (task.mask.radius.x + task.mask.radius.y) / row_threads;
}

void enqueue_transposed(const FilterTask& task, void* workspace, StreamHandle stream) {
  with_pass(task, [&]<class Pass>(const Pass& pass) {
    using Sum = typename Pass::Sum;
    const Size size = pass.size, turned{size.height, size.width};
    auto* const first = static_cast<Sum*>(workspace);
    auto* const second = first + bytes_of_sums(task) / sizeof(Sum);
    const dim3 threads(side, side_rows);
    FACESAT_LAUNCH_SHARED(rows_of_picture_kernel<Pass>, grid_of(size, row_threads, 1),
                          dim3(row_threads),
                          row_tile_bytes(pass.radius.x, sizeof(typename Pass::In)), stream, pass,
                          (Dense<Sum>{size, first}));
    FACESAT_LAUNCH(transpose_kernel<Pass>, grid_of(size, side, side), threads, stream,
                   (Dense<Sum>{size, first}), (Dense<Sum>{turned, second}));
    FACESAT_LAUNCH_SHARED(rows_of_sums_kernel<Pass>, grid_of(turned, row_threads, 1),
                          dim3(row_threads), row_tile_bytes(pass.radius.y, sizeof(Sum)), stream,
                          pass, (Dense<Sum>{turned, second}), (Dense<Sum>{turned, first}));
    FACESAT_LAUNCH(transpose_to_result_kernel<Pass>, grid_of(turned, side, side), threads, stream,
                   pass, (Dense<Sum>{turned, first}));
  });
}

// ---- the table of algorithms ----

constexpr FilterAlgorithm along_rows(FilterAlgorithm algorithm) {
  algorithm.is_1d = true;
  return algorithm;
}

constexpr FilterAlgorithm separable(FilterAlgorithm algorithm, int launches,
                                    std::size_t (*workspace_bytes)(const FilterTask&)) {
  algorithm.takes = MaskKind::separable;
  algorithm.launches = launches;
  algorithm.workspace_bytes = workspace_bytes;
  return algorithm;
}

}  // namespace

const FilterAlgorithm lecture_separable = separable(
    of_lecture("lecture_separable", "Rows, then columns", reads_of_separable, enqueue_separable), 2,
    separable_bytes);
const FilterAlgorithm lecture_separable_transposed =
    separable(of_lecture("lecture_separable_transposed", "Rows and transpose, twice",
                         reads_of_transposed, enqueue_transposed),
              4, transposed_bytes);
const FilterAlgorithm lecture_1d_naive = along_rows(of_lecture(
    "lecture_1d_naive", "A thread per element reads its window", reads_of_window, enqueue_naive));
const FilterAlgorithm lecture_1d_shared = along_rows(of_lecture(
    "lecture_1d_shared", "Shared memory, with as many elements as the radius on either side",
    reads_of_row_tile, enqueue_shared));

}  // namespace facesat::gpu
