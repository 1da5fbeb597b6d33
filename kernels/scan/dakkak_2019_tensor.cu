// Sums by products of matrices, on tensor cores: one pass with decoupled look-back.
//
// Idea: elements in rows are a matrix A. With U of ones on and above the diagonal (above it alone
//   for an exclusive scan), A U has the scan of each row alone; with L of ones below the diagonal,
//   L A 1 has, in row r, the sum of all rows before r. So the scan of all elements is A U + L (A
//   1), and the multiply-accumulate instructions of a warp do all of it: no lane shuffles anything.
//   What is before a tile is found by look-back.
// Shapes: tiles of vectors of 16 bytes, in registers; the 32 vectors of a row of the tile are a
//   matrix of 8 rows of 16 (8 of 64 bits) elements, four vectors each.
// Reads and writes per element: 1 / 1.
// Launches: 1.
// Workspace: a header, and 8 bytes per tile for every 4 bytes of an element.
// Source: A. Dakkak, C. Li, J. Xiong, I. Gelado, W.-m. Hwu, "Accelerating Reduction and Scan Using
//   Tensor Core Units", ICS 2019.
// Departs from it in: doubles (mma m8n8k4) for the paper's half precision and its matrices of 16 by
//   16, so that sums are exact: those of 32 bits of an integer stay below 2^53, and 64-bit integers
//   are two such parts; the columns of A are permuted such that lanes multiply what they have
//   loaded; A 1 is computed first, and then L (A 1); one pass with look-back, as in merrill_2016,
//   for several kernels. Where a sum of real numbers might be infinite or NaN, the warp shuffles,
//   because 0 times infinity is no 0. So it does with all other operators, which have no products.
#include "kernels/device/matrix.hpp"
#include "kernels/scan/register_tile.cuh"

namespace facesat::gpu {
namespace {

// An element as parts whose sums are exact as doubles if the element is an integer.
template <class T>
constexpr int double_parts = std::is_integral_v<T> && sizeof(T) == 8 ? 2 : 1;
template <class T>
__device__ __forceinline__ double to_double(T value, int part) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<double>(static_cast<std::uint32_t>(value >> 32 * part));
  else
    return static_cast<double>(value);
}
template <class T>
__device__ __forceinline__ T from_double(double sum, int part) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<T>(static_cast<std::uint64_t>(sum)) << 32 * part);
  else
    return static_cast<T>(sum);
}

// Replaces elements by the sums of all up to them, in a matrix of 8 rows of 4 * width elements, one
// row after the other. Lane l has elements width * (l % 4) to width * (l % 4) + width - 1 of row
// l / 4. `sum` is that of all elements before the matrix, and becomes that up to its end.
template <int width>
__device__ __forceinline__ void scan_matrix(double (&x)[width], double& sum, bool is_inclusive) {
  const int row = static_cast<int>(lane_of_thread()) / 4,
            column = static_cast<int>(lane_of_thread()) % 4;
  double totals[2] = {};  // 1 * (transposed A): those of rows 2 * column and 2 * column + 1
  FACESAT_UNROLL
  for (int k = 0; k < width; ++k) multiply_add(totals, 1.0, x[k]);
  double before[2] = {sum, sum}, all[2] = {sum, sum};  // L * totals, 1 * totals, in all columns
  FACESAT_UNROLL
  for (int k = 0; k < 2; ++k) {
    multiply_add(before, 2 * column + k < row ? 1.0 : 0.0, totals[k]);
    multiply_add(all, 1.0, totals[k]);
  }
  sum = all[0];
  double scans[width];
  FACESAT_UNROLL
  for (int i = 0; i < width; i += 2) {  // A * U, of which this lane gets elements i and i + 1
    double two[2] = {before[0], before[1]};
    FACESAT_UNROLL
    for (int k = 0; k < width; ++k) {
      const int from = width * column + k, to = width * (row / 2) + i + row % 2;
      multiply_add(two, x[k], from < to + (is_inclusive ? 1 : 0) ? 1.0 : 0.0);
    }
    scans[i] = two[0];
    scans[i + 1] = two[1];
  }
  FACESAT_UNROLL
  for (int k = 0; k < width; ++k) x[k] = scans[k];
}

// A tile of sums.
template <class Pass, int rows>
struct MatrixTile : RegisterTile<Pass, rows> {
  using Base = RegisterTile<Pass, rows>;
  using T = typename Pass::T;
  static constexpr int width = Base::width;

  __device__ __forceinline__ T scan(const Pass& pass) {
    return are_sums_finite() ? scan_sums(pass.is_inclusive) : Base::scan(pass);
  }

  // As if values that are results were those of an inclusive scan.
  __device__ __forceinline__ void store(const Pass& pass, int begin, T prefix) const {
    Pass stored = pass;
    stored.is_inclusive = pass.is_inclusive || are_results_;
    Base::store(stored, begin, prefix);
  }

 private:
  bool are_results_ = false;  // values are the scan of the warp's elements, of the wanted kind

  __device__ __forceinline__ bool are_sums_finite() const {
    if constexpr (std::is_integral_v<T>) {
      return true;
    } else {
      constexpr T limit = std::numeric_limits<T>::max() / (rows * Base::row_elements);
      bool are_small = true;
      FACESAT_UNROLL
      for (const Several<T, width>& vector : this->values) {
        FACESAT_UNROLL
        for (const T value : vector.v) are_small = are_small && -limit <= value && value <= limit;
      }
      return !__any_sync(full_warp, !are_small);
    }
  }

  __device__ __forceinline__ T scan_sums(bool is_inclusive) {
    are_results_ = true;
    double sums[double_parts<T>] = {};
    FACESAT_UNROLL
    for (int row = 0; row < rows; ++row) {
      Several<T, width> scans{};
      FACESAT_UNROLL
      for (int part = 0; part < double_parts<T>; ++part) {
        double x[width];
        FACESAT_UNROLL
        for (int k = 0; k < width; ++k) x[k] = to_double(this->values[row].v[k], part);
        scan_matrix(x, sums[part], is_inclusive);
        FACESAT_UNROLL
        for (int k = 0; k < width; ++k) scans.v[k] += from_double<T>(x[k], part);
      }
      this->values[row] = scans;
      this->before[row] = T{};
    }
    T sum{};
    FACESAT_UNROLL
    for (int part = 0; part < double_parts<T>; ++part) sum += from_double<T>(sums[part], part);
    return sum;
  }
};

template <class Pass, int rows>
using TileOf = std::conditional_t<std::is_same_v<typename Pass::Op, Sum<typename Pass::T>>,
                                  MatrixTile<Pass, rows>, RegisterTile<Pass, rows>>;

constexpr std::array thread_choices{128, 256, 512};
constexpr std::array vector_choices{1, 2, 4, 7};
constexpr std::array parameters{
    ScanParameter{"threads", "threads per block", 256, thread_choices},
    ScanParameter{"vectors", "vectors of 16 bytes per thread", 4, vector_choices}};

}  // namespace

const ScanAlgorithm dakkak_2019_tensor{
    .id = "dakkak_2019_tensor",
    .title = "Sums by products of matrices on tensor cores, a single pass with look-back",
    .source =
        "Dakkak, Li, Xiong, Gelado, Hwu: Accelerating Reduction and Scan Using Tensor Core Units, "
        "ICS 2019",
    .year = 2019,
    .parameters = parameters,
    .cost = [](const ScanTask&) { return ScanCost{.launches = 1, .reads = 1, .writes = 1}; },
    .workspace_bytes =
        [](const ScanTask& task) { return published_bytes(task, tile_of_settings(task)); },
    .enqueue = enqueue_tiles<TileOf>,
};

}  // namespace facesat::gpu
