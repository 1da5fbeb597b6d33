// Horizontal and vertical pass in the style of OpenCV's CUDA module.
//
// Idea: rows first, one block each, by one of two kernels. For 8-bit pictures, a thread loads 16
//   bytes and scans them in series; the threads' totals are scanned by shuffles, within warps and
//   across the block's warps; and four lanes exchange their 16 sums each, so that stores are
//   coalesced, too. For other types, a thread has one element, and warps and their totals are
//   scanned in the same way. Then blocks scan strips of 32 columns in place, 8 rows at a time: the
//   8 rows are transposed through shared memory, and each group of 8 lanes scans a column by
//   shuffles.
// Shapes: one block per row with a carry from each part of it to the next: up to 1024 threads of 16
//   pixels each for 8-bit pictures, 256 threads of one element each for others; one block of 32 x 8
//   threads per strip, with a carry.
// Reads and writes per element: the pixel read; the table written, read and written again (2R2W).
// Launches: 2.
// Workspace: none.
// Source: OpenCV 3.4's integral() for CUDA as Chen et al. 2018 describe it (section VI-B), with
//   Kogge and Stone's scan (1973).
// Departs from it in: rows of any length for 8-bit pictures, too; shuffles in all kernels.
#include <algorithm>

#include "kernels/sat/pass.cuh"
#include "kernels/sat/tile.cuh"

namespace facesat::gpu {
namespace {

constexpr int most_threads = 1024;               // of a row's block, for 8-bit pictures
constexpr int row_threads = 256;                 // of a row's block, for other types
constexpr int strip_width = 32, strip_rows = 8;  // of a block of the vertical pass

// Elements that are moved together: 16 bytes.
template <class T>
constexpr int vector_size = 16 / sizeof(T);
template <class T>
struct alignas(16) Vector {
  T v[vector_size<T>];
};

// Loads from row[x] on, with zeros past `width`; x is a multiple of the vector's size.
template <class T>
__device__ __forceinline__ Vector<T> load_vector(const T* row, int x, int width) {
  if (x + vector_size<T> <= width) return *reinterpret_cast<const Vector<T>*>(row + x);
  Vector<T> vector;
  FACESAT_UNROLL
  for (int i = 0; i < vector_size<T>; ++i) vector.v[i] = x + i < width ? row[x + i] : T{};
  return vector;
}
template <class T>
__device__ __forceinline__ void store_vector(T* row, int x, int width, const Vector<T>& vector) {
  if (x + vector_size<T> <= width) {
    *reinterpret_cast<Vector<T>*>(row + x) = vector;
    return;
  }
  FACESAT_UNROLL
  for (int i = 0; i < vector_size<T>; ++i)
    if (x + i < width) row[x + i] = vector.v[i];
}

// Transposes a matrix of 4 x 4 vectors, with one row in each of four lanes: in step d, lanes d
// apart swap the columns that belong to each other's half.
template <class T>
__device__ __forceinline__ void transpose_among_four(Vector<T> (&vectors)[4], int lane) {
  FACESAT_UNROLL
  for (int d = 1; d < 4; d *= 2) FACESAT_UNROLL
  for (int i = 0; i < 4; ++i) {
    if (i & d) continue;
    FACESAT_UNROLL
    for (int k = 0; k < vector_size<T>; ++k) {
      T &low = vectors[i].v[k], &high = vectors[i + d].v[k];
      const T received = __shfl_xor_sync(full_warp, lane & d ? low : high, d);
      (lane & d ? low : high) = received;
    }
  }
}

// What scan_totals() needs: the sum of each warp; then the sum of all of the row before each warp.
template <class Out>
using Totals = SharedArray<Out, most_threads / 32>;

// The exclusive scan, across the block, of the sum of each thread's elements, plus the carry, which
// warp 0 keeps and replaces by the sum up to the block's last element. The totals can be used again
// at once.
template <class Out>
__device__ __forceinline__ Out scan_totals(Out sum, Totals<Out>& totals, Out& carry) {
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = thread / 32;
  const int warps = static_cast<int>(blockDim.x) / 32;
  const Out scan = warp_inclusive_scan(sum);
  if (lane == 31) totals[warp] = scan;
  __syncthreads();
  if (warp == 0) {
    const Out inclusive =
        warp_inclusive_scan(lane < warps ? static_cast<Out>(totals[lane]) : Out{});
    const Out before = __shfl_up_sync(full_warp, inclusive, 1);
    if (lane < warps) totals[lane] = carry + (lane > 0 ? before : Out{});
    carry += __shfl_sync(full_warp, inclusive, 31);
  }
  __syncthreads();
  const Out lanes_before = __shfl_up_sync(full_warp, scan, 1);
  const Out base = totals[warp] + (lane > 0 ? lanes_before : Out{});
  __syncthreads();
  return base;
}

// For 8-bit pictures.
template <class Pass>
__global__ void __launch_bounds__(most_threads) horizontal_kernel_of_bytes(Pass pass) {
  using In = typename Pass::In;
  using Out = typename Pass::Out;
  constexpr int pixels = vector_size<In>, vectors = pixels / vector_size<Out>;
  __shared__ Totals<Out> totals;
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32;
  const int threads = static_cast<int>(blockDim.x), width = pass.size.width;
  const int y = static_cast<int>(blockIdx.y);
  Out carry{};  // in warp 0
  for (int begin = 0; begin < width; begin += threads * pixels) {
    const int x = begin + thread * pixels;
    const Vector<In> in = load_vector(pass.input_row(y), x, width);
    Out sum{};
    Vector<Out> sums[vectors];
    FACESAT_UNROLL
    for (int i = 0; i < pixels; ++i) {
      sum += Pass::value(in.v[i]);
      sums[i / vector_size<Out>].v[i % vector_size<Out>] = sum;
    }
    const Out base = scan_totals(sum, totals, carry);
    FACESAT_UNROLL
    for (int i = 0; i < pixels; ++i) sums[i / vector_size<Out>].v[i % vector_size<Out>] += base;
    transpose_among_four(sums, lane);  // lane q of four then has vector q of all four
    const int first = x - lane % 4 * pixels + lane % 4 * vector_size<Out>;
    FACESAT_UNROLL
    for (int i = 0; i < vectors; ++i) store_vector(pass.row(y), first + i * pixels, width, sums[i]);
  }
}

// For all other types.
template <class Pass>
__global__ void __launch_bounds__(row_threads) horizontal_kernel(Pass pass) {
  using Out = typename Pass::Out;
  __shared__ Totals<Out> totals;
  const int y = static_cast<int>(blockIdx.y);
  Out carry{};  // in warp 0
  for (int begin = 0; begin < pass.size.width; begin += row_threads) {
    const int x = begin + static_cast<int>(threadIdx.x);
    const Out value = pass.value_at(x, y);
    const Out base = scan_totals(value, totals, carry);
    if (x < pass.size.width) pass.row(y)[x] = base + value;
  }
}

template <class Pass>
__global__ void __launch_bounds__(strip_width* strip_rows) vertical_kernel(Pass pass) {
  using Out = typename Pass::Out;
  constexpr int pitch = strip_rows + 1;
  __shared__ SharedArray<Out, strip_width * pitch> columns;
  const int column = static_cast<int>(threadIdx.x), row = static_cast<int>(threadIdx.y);
  const int x = static_cast<int>(blockIdx.x) * strip_width + column;
  // The element that this thread scans: 8 adjacent lanes scan one column.
  const int thread = row * strip_width + column;
  const int scanned_row = thread % strip_rows, scanned = thread / strip_rows * pitch + scanned_row;
  Out carry{};
  for (int begin = 0; begin < pass.size.height; begin += strip_rows) {
    const int y = begin + row;
    columns[column * pitch + row] = pass.has(x, y) ? pass.row(y)[x] : Out{};
    __syncthreads();
    Out sum = columns[scanned];
    FACESAT_UNROLL
    for (int d = 1; d < strip_rows; d *= 2) {
      const Out above = __shfl_up_sync(full_warp, sum, static_cast<unsigned>(d));
      if (scanned_row >= d) sum += above;
    }
    columns[scanned] = sum;
    __syncthreads();
    if (pass.has(x, y)) pass.row(y)[x] = carry + columns[column * pitch + row];
    carry += columns[column * pitch + strip_rows - 1];
    __syncthreads();  // the next rows overwrite the columns
  }
}

void enqueue(const SatTask& task, void*, StreamHandle stream) {
  for_each_table(task, [&]<class Pass>(const Pass& pass) {
    const dim3 rows(1, pass.size.height);
    if constexpr (sizeof(typename Pass::In) == 1) {
      const int vectors = divide_up(pass.size.width, vector_size<std::uint8_t>);
      const int threads = std::min(most_threads, divide_up(vectors, 32) * 32);
      FACESAT_LAUNCH(horizontal_kernel_of_bytes<Pass>, rows, dim3(threads), stream, pass);
    } else {
      FACESAT_LAUNCH(horizontal_kernel<Pass>, rows, dim3(row_threads), stream, pass);
    }
    FACESAT_LAUNCH(vertical_kernel<Pass>, dim3(divide_up(pass.size.width, strip_width)),
                   dim3(strip_width, strip_rows), stream, pass);
  });
}

}  // namespace

const SatAlgorithm opencv_style{
    .id = "opencv_style",
    .title = "Horizontal and vertical pass in OpenCV's style (2R2W)",
    .source = "OpenCV 3.4, as Chen et al. 2018 describe it",
    .year = 2018,
    .launches = 2,
    .reads = 2,
    .writes = 2,
    .workspace_bytes = no_workspace,
    .enqueue = enqueue,
};

}  // namespace facesat::gpu
