// The five algorithms of Chen et al.: rows and columns of register matrices. Numbers of algorithms,
// figures and sections are those of the paper (see Source).
//
// A warp keeps a matrix of 32 x 32 elements in registers, `T data[32]` in each lane: lane l holds
// column l, and row j is data[j] of all lanes. Rows are scanned in parallel, by shuffles; columns
// serially, each by its own lane; block-register-local-transpose (BRLT) turns columns into rows,
// through shared memory.
//
// Ideas:
//   BRLT-ScanRow (section IV-B): each warp of a block loads 32 x 32 elements of the same 32 rows
//     and transposes them, so that a thread has a row's 32 elements and scans them alone, without
//     communication. The result is written transposed, and a second run of the same kernel scans
//     the columns.
//   ScanRow-BRLT (section IV-A): the same, but rows are scanned by shuffles, before they are
//     transposed.
//   ScanRowColumn (section IV-C): a warp loads 1024 elements of a row and scans them by shuffles,
//     32 at a time, each time with the sum so far added to the first; then blocks scan strips of 32
//     columns in place, where each thread adds up 32 elements alone.
//   Of scans by shuffles there are two: Kogge and Stone's (_ks) adds the values 1, 2, 4, 8 and 16
//   lanes before; Ladner and Fischer's (_lf) joins halves of 1, 2, 4, 8 and 16 lanes, with 80
//   additions per row instead of 129.
// Shapes: blocks of 1024 threads (512 for double). With BRLT, 32 rows, and as many columns per step
//   as threads, with a carry along the rows. ScanRowColumn: as many rows as warps, with a carry
//   along the rows; strips of 32 columns, as many rows per step as threads, with a carry down the
//   columns.
// Reads and writes per element: the pixel read; the intermediate, which for ScanRowColumn is the
//   table, written and read; the table written (2R2W).
// Launches: 2.
// Workspace: the intermediate, transposed; for ScanRowColumn, none.
// Source: Peng Chen, Mohamed Wahib, Shinichiro Takizawa, Ryousei Takano, Satoshi Matsuoka:
//   Efficient Algorithms for the Summed Area Tables Primitive on GPUs, IEEE CLUSTER 2018.
// Departs from it in: all threads reach the barriers of BRLT, not only the warps whose turn is
//   still to come; the partial sums of the warps are scanned by warp 0, one row or column per lane,
//   and in ScanRow-BRLT after BRLT; blocks of 32 x 16 threads for columns of double, whose register
//   matrices would not fit otherwise.
#include <type_traits>

#include "kernels/sat/model.hpp"
#include "kernels/sat/tile.cuh"
#include "kernels/sat/transposed.cuh"

namespace facesat::gpu {
namespace {

constexpr int side = 32;  // of a register matrix: the paper's WarpSize and C

// 1024 threads with 64 registers each, half of them the register matrix; 512 for double.
template <class T>
constexpr int threads = 4096 / sizeof(T);
template <class T>
constexpr int warps = threads<T> / 32;

// ---- scans of a row: one element per lane ----

// Algorithm 3. The conditions printed in the paper are off by one; this scan uses the right ones.
struct KoggeStone {
  template <class T>
  __device__ __forceinline__ static T scan(T value) {
    return warp_inclusive_scan(value);
  }
};

// Algorithm 4. In each group of 2d lanes, the upper half adds the sum of the lower one.
struct LadnerFischer {
  template <class T>
  __device__ __forceinline__ static T scan(T value) {
    const unsigned lane = lane_of_thread();
    FACESAT_UNROLL
    for (unsigned d = 1; d < 32; d *= 2) {
      const unsigned last_of_lower = (lane & ~(2 * d - 1)) + d - 1;
      const T lower = __shfl_sync(full_warp, value, static_cast<int>(last_of_lower));
      if (lane & d) value += lower;
    }
    return value;
  }
};

// ---- the register matrix ----

// load() reads a lane's column from elements `stride` apart, of which `count` exist; the others are
// zero. store() writes it. Whole columns have code of their own without conditions, because nvcc
// would keep the conditions in registers from load to store.
template <class Pass>
__device__ __forceinline__ void load(typename Pass::Out (&data)[side],
                                     const typename Pass::In* from, std::ptrdiff_t stride,
                                     int count) {
  if (count >= side) {
    FACESAT_UNROLL
    for (int j = 0; j < side; ++j, from += stride) data[j] = Pass::value(*from);
  } else {
    FACESAT_UNROLL
    for (int j = 0; j < side; ++j, from += stride)
      data[j] = j < count ? Pass::value(*from) : typename Pass::Out{};
  }
}
template <class T>
__device__ __forceinline__ void store(const T (&data)[side], T* to, std::ptrdiff_t stride,
                                      int count) {
  if (count >= side) {
    FACESAT_UNROLL
    for (int j = 0; j < side; ++j, to += stride) *to = data[j];
  } else {
    FACESAT_UNROLL
    for (int j = 0; j < side; ++j, to += stride)
      if (j < count) *to = data[j];
  }
}

// Algorithm 2: every lane scans its column.
template <class T>
__device__ __forceinline__ void scan_columns(T (&data)[side]) {
  FACESAT_UNROLL
  for (int j = 1; j < side; ++j) data[j] += data[j - 1];
}

// The buffer in which a warp transposes its matrix. It has rows of 33 elements, so that neither
// rows nor columns have bank conflicts.
constexpr int buffer_pitch = side + 1, buffer_size = side * buffer_pitch;
template <class T>
constexpr int buffers = 32 / sizeof(T);  // the paper's S: how many warps transpose at a time
template <class T>
using Buffers = SharedArray<T, buffers<T> * buffer_size>;

// Algorithm 5, BRLT. The buffers may be used again after the block's next barrier.
template <class T>
__device__ __forceinline__ void transpose(T (&data)[side], Buffers<T>& memory, int lane, int warp) {
  const int buffer = warp % buffers<T> * buffer_size;
  for (int first = 0; first < warps<T>; first += buffers<T>) {
    if (first > 0) __syncthreads();  // the previous warps have left the buffers
    if (warp / buffers<T> * buffers<T> != first) continue;
    FACESAT_UNROLL
    for (int j = 0; j < side; ++j) memory[buffer + j * buffer_pitch + lane] = data[j];
    __syncwarp();
    FACESAT_UNROLL
    for (int j = 0; j < side; ++j) data[j] = memory[buffer + lane * buffer_pitch + j];
  }
}

// Figure 3c: a block's warps hold consecutive parts of 32 columns, each part scanned by itself.
// Adds to each part the totals of the parts before it, of this step and of the previous steps. Warp
// 0 keeps the totals of the previous steps in `carry`, initially zero.
template <class T>
__device__ __forceinline__ void add_warps_before(T (&data)[side],
                                                 SharedArray<T, threads<T>>& totals, T& carry,
                                                 int lane, int warp) {
  totals[warp * side + lane] = data[side - 1];
  __syncthreads();
  if (warp == 0)
    for (int w = 0; w < warps<T>; ++w) {
      const T total = totals[w * side + lane];
      totals[w * side + lane] = carry;
      carry += total;
    }
  __syncthreads();
  const T base = totals[warp * side + lane];
  FACESAT_UNROLL
  for (int j = 0; j < side; ++j) data[j] += base;
}

// ---- scan rows and transpose, twice ----

// A method scans the rows of a register matrix: by shuffles while they still are rows
// (before_transposing), or serially once they are columns (after_transposing). Its other function
// is empty.
struct BrltScanRow {
  template <class T>
  __device__ __forceinline__ static void before_transposing(T (&)[side]) {}
  template <class T>
  __device__ __forceinline__ static void after_transposing(T (&data)[side]) {
    scan_columns(data);
  }
};

template <class Scan>
struct ScanRowBrlt {
  template <class T>
  __device__ __forceinline__ static void before_transposing(T (&data)[side]) {
    FACESAT_UNROLL
    for (int j = 0; j < side; ++j) data[j] = Scan::scan(data[j]);
  }
  template <class T>
  __device__ __forceinline__ static void after_transposing(T (&)[side]) {}
};

// A block scans 32 rows, `threads` columns per step; the table is written transposed. `Method` is
// BrltScanRow or ScanRowBrlt.
template <class Method, class Pass>
__global__ void __launch_bounds__(threads<typename Pass::Out>, 1) scan_transpose_kernel(Pass pass) {
  using Out = typename Pass::Out;
  __shared__ Buffers<Out> memory;
  __shared__ SharedArray<Out, threads<Out>> totals;
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const int y = static_cast<int>(blockIdx.y) * side;
  const int width = pass.size.width, height = pass.size.height;
  Out carry{};
  for (int begin = 0; begin < width; begin += threads<Out>) {
    const int x = begin + warp * side;
    Out data[side];
    load<Pass>(data, pass.input_row(y) + x + lane, pass.input_pitch,
               x + lane < width ? height - y : 0);
    // Zeros past the width need no scan; but on the GPU the condition costs registers that spill.
    // All lanes of a warp have the same x, so either all of them scan or none.
    if (!on_host || x < width) Method::before_transposing(data);
    transpose(data, memory, lane, warp);
    Method::after_transposing(data);
    add_warps_before(data, totals, carry, lane, warp);
    store(data, pass.row(x) + y + lane, pass.pitch, y + lane < height ? width - x : 0);
  }
}

template <class Method, class Pass>
void launch_scan_transpose(const Pass& pass, StreamHandle stream) {
  FACESAT_LAUNCH((scan_transpose_kernel<Method, Pass>), dim3(1, divide_up(pass.size.height, side)),
                 dim3(threads<typename Pass::Out>), stream, pass);
}

template <class Method>
void enqueue_scan_transpose_twice(const SatTask& task, void* workspace, StreamHandle stream) {
  for_each_table(task, [&]<class Pass>(const Pass& pass) {
    launch_scan_transpose<Method>(to_transposed(pass, workspace), stream);
    launch_scan_transpose<Method>(from_transposed(pass, workspace), stream);
  });
}

// ---- scan rows, then columns ----

// A warp scans a row, 1024 pixels per step: 32 scans of 32 pixels, where the last sum of each scan
// is added to the first element of the next one.
template <class Scan, class Pass>
__global__ void __launch_bounds__(threads<typename Pass::Out>, 1) scan_row_kernel(Pass pass) {
  using Out = typename Pass::Out;
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const int y = static_cast<int>(blockIdx.y) * warps<Out> + warp, width = pass.size.width;
  if (y >= pass.size.height) return;  // all lanes of the warp do, since they have the same y
  Out carry{};
  for (int begin = 0; begin < width; begin += side * 32) {
    const int x = begin + lane, count = divide_up(width - x, 32);
    Out data[side];
    load<Pass>(data, pass.input_row(y) + x, 32, count);
    FACESAT_UNROLL
    for (int j = 0; j < side; ++j) {
      if (lane == 0) data[j] += carry;
      data[j] = Scan::scan(data[j]);
      carry = __shfl_sync(full_warp, data[j], 31);
    }
    store(data, pass.row(y) + x, 32, count);
  }
}

// A block scans a strip of 32 columns, `threads` rows per step.
template <class Pass>
__global__ void __launch_bounds__(threads<typename Pass::Out>, 1) scan_column_kernel(Pass pass) {
  using Out = typename Pass::Out;
  __shared__ SharedArray<Out, threads<Out>> totals;
  const int lane = static_cast<int>(threadIdx.x), warp = static_cast<int>(threadIdx.y);
  const int x = static_cast<int>(blockIdx.x) * side + lane;
  Out carry{};
  for (int begin = 0; begin < pass.size.height; begin += threads<Out>) {
    const int y = begin + warp * side;
    const int count = x < pass.size.width ? pass.size.height - y : 0;
    Out data[side];
    load<Pass>(data, pass.input_row(y) + x, pass.input_pitch, count);
    scan_columns(data);
    add_warps_before(data, totals, carry, lane, warp);
    store(data, pass.row(y) + x, pass.pitch, count);
  }
}

template <class Scan>
void enqueue_scan_row_column(const SatTask& task, void*, StreamHandle stream) {
  for_each_table(task, [&]<class Pass>(const Pass& pass) {
    constexpr int size = threads<typename Pass::Out>;
    FACESAT_LAUNCH((scan_row_kernel<Scan, Pass>), dim3(1, divide_up(pass.size.height, size / 32)),
                   dim3(size), stream, pass);
    const auto columns = between_tables(pass.size, pass.table, pass.pitch, pass.table, pass.pitch);
    FACESAT_LAUNCH(scan_column_kernel<std::remove_const_t<decltype(columns)>>,
                   dim3(divide_up(pass.size.width, side)), dim3(32, size / 32), stream, columns);
  });
}

constexpr SatAlgorithm algorithm(std::string_view id, std::string_view title, const SatModel& model,
                                 std::size_t (*workspace_bytes)(SatType, Size),
                                 void (*enqueue)(const SatTask&, void*, StreamHandle)) {
  return {.id = id,
          .title = title,
          .source =
              "Chen, Wahib, Takizawa, Takano, Matsuoka: Efficient Algorithms for the Summed Area "
              "Tables Primitive on GPUs, CLUSTER 2018",
          .year = 2018,
          .launches = 2,
          .reads = 2,
          .writes = 2,
          .model = model,
          .workspace_bytes = workspace_bytes,
          .enqueue = enqueue};
}

}  // namespace

const SatAlgorithm chen_2018_brlt_scanrow = algorithm(
    "chen_2018_brlt_scanrow", "BRLT-ScanRow: transpose in registers, serial scans (2R2W)",
    chen_brlt_scan_row_model, transposed_bytes, enqueue_scan_transpose_twice<BrltScanRow>);
const SatAlgorithm chen_2018_scanrow_brlt_ks = algorithm(
    "chen_2018_scanrow_brlt_ks", "ScanRow-BRLT: Kogge-Stone scans, transpose in registers (2R2W)",
    chen_scan_row_brlt_model<RowScan::kogge_stone>, transposed_bytes,
    enqueue_scan_transpose_twice<ScanRowBrlt<KoggeStone>>);
const SatAlgorithm chen_2018_scanrow_brlt_lf =
    algorithm("chen_2018_scanrow_brlt_lf",
              "ScanRow-BRLT: Ladner-Fischer scans, transpose in registers (2R2W)",
              chen_scan_row_brlt_model<RowScan::ladner_fischer>, transposed_bytes,
              enqueue_scan_transpose_twice<ScanRowBrlt<LadnerFischer>>);
const SatAlgorithm chen_2018_scanrow_column_ks =
    algorithm("chen_2018_scanrow_column_ks",
              "ScanRowColumn: Kogge-Stone scans of rows, serial scans of columns (2R2W)",
              chen_scan_row_column_model<RowScan::kogge_stone>, no_workspace,
              enqueue_scan_row_column<KoggeStone>);
const SatAlgorithm chen_2018_scanrow_column_lf =
    algorithm("chen_2018_scanrow_column_lf",
              "ScanRowColumn: Ladner-Fischer scans of rows, serial scans of columns (2R2W)",
              chen_scan_row_column_model<RowScan::ladner_fischer>, no_workspace,
              enqueue_scan_row_column<LadnerFischer>);

}  // namespace facesat::gpu
