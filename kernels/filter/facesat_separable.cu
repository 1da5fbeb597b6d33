// Separable convolution in one pass over the picture, in shared memory; of 8-bit pictures with the
// GPU's dot products.
//
// Idea: a block loads a tile with its halo, convolves its rows, and then the columns of what that
//   gives, so that nothing but the picture and the result touches global memory.
//   If the weights fit into 8 bits, as those of a Gaussian do, __dp4a multiplies and adds four
//   pixels of a row at a time, and __dp2a two sums of 16 bits. Sums of two rows are a pair in a
//   word; the columns' windows begin at either of them, so a thread computes rows in pairs, too,
//   with weights that are shifted by one row for the second. There is a kernel for every four
//   radii: its loops are unrolled, so that weights are operands from constant memory, and no
//   instructions but products are left in them.
// Shapes: dot products: 256 threads, tiles of 128 x 64 results, of which a thread computes 4 x 8;
//   others: 32 x 8 threads, tiles of 32 x 32.
// Reads per pixel: (tile + 2 halo) / tile in each direction; of dot products, the halo is 16 or 32
//   columns and as many rows as the radius, of the others the radius.
// Launches: 1.
// Workspace: none.
// Source: ours; V. Podlozhnyuk, "Image convolution with CUDA", NVIDIA 2007, has the separate tiles
//   of rows and columns.
#include <algorithm>
#include <numeric>
#include <type_traits>

#include "kernels/filter/pass.cuh"

namespace facesat::gpu {
namespace {

// ---- dot products

constexpr int dot_width = 128, dot_height = 64;  // of a tile's results
constexpr int dot_threads = 256;
constexpr int greatest_dot_radius = 31;
constexpr int group = 4;       // columns of a thread, which are a word of pixels
constexpr int pairs_each = 4;  // pairs of rows of a thread

// Radii up to 4 * steps have a kernel. A group of results begins `steps` words after the first one
// that it reads.
constexpr int steps_of(Radius radius) {
  return std::max(1, divide_up(std::max(radius.x, radius.y), 4));
}

// The weights, backwards, as convolutions need them.
template <int steps>
struct DotWeights {
  static constexpr int words = 2 * steps + 1;  // that a group of results reads in a row
  static constexpr int pairs = 4 * steps + 1;  // of rows that a pair of results reads

  // Weights of four pixels each: element k of a word's is for the group's result k.
  std::uint32_t row[words][group]{};
  // Two weights for the upper result of a pair and two for the lower one. With zeros around them
  // for the pairs that others read.
  std::uint32_t column[pairs + 2 * (pairs_each - 1)]{};

  explicit DotWeights(const FilterTask& task) {
    const auto* const along = static_cast<const std::int32_t*>(task.mask.host_row);
    const auto* const across = static_cast<const std::int32_t*>(task.mask.host_column);
    const auto [rx, ry] = task.mask.radius;
    for (int k = 0; k < group; ++k)
      for (int i = 0; i <= 2 * rx; ++i) {
        const int place = 4 * steps - rx + k + i;
        row[place / 4][k] |= static_cast<std::uint32_t>(along[2 * rx - i]) << 8 * (place % 4);
      }
    for (int lower = 0; lower < 2; ++lower)
      for (int i = 0; i <= 2 * ry; ++i) {
        const int place = lower + i;
        column[pairs_each - 1 + place / 2] |= static_cast<std::uint32_t>(across[2 * ry - i])
                                              << 8 * (place % 2 + 2 * lower);
      }
  }
};

// Weights of 8 bits whose sums along a row have 16.
bool has_dot_weights(const FilterTask& task) {
  const auto [rx, ry] = task.mask.radius;
  if (info_of(task.type).input_bytes != 1 || std::max(rx, ry) > greatest_dot_radius) return false;
  const auto* const row = static_cast<const std::int32_t*>(task.mask.host_row);
  const auto* const column = static_cast<const std::int32_t*>(task.mask.host_column);
  const auto fits = [](std::int32_t weight) { return weight >= 0 && weight <= 255; };
  std::int64_t sum = 0;
  for (int i = 0; i <= 2 * rx; ++i) sum += row[i];
  return std::all_of(row, row + 2 * rx + 1, fits) && sum <= 257 &&
         std::all_of(column, column + 2 * ry + 1, fits);
}

// Columns before and after a tile's results, in whole vectors of 16 bytes.
constexpr int dot_halo(int steps) {
  return divide_up(4 * steps, 16) * 16;
}

// The tile in shared memory: words of four pixels, then pairs of sums.
template <int steps>
struct DotTile {
  static constexpr int words = (dot_width + 2 * dot_halo(steps)) / 4;  // of a row

  int rows;

  __device__ __host__ explicit DotTile(Radius radius) : rows(dot_height + 2 * radius.y) {}
  __device__ __host__ int pairs() const { return rows / 2; }
  __device__ __host__ int first_pair() const { return words * rows; }
  std::size_t bytes() const {
    return static_cast<std::size_t>(first_pair() + pairs() * dot_width) * 4;
  }
};

struct alignas(16) Vector {
  std::uint32_t words[4];
};

// Sixteen pixels from (x, y) on, which may lie outside of the picture.
template <class Pass>
__device__ __forceinline__ Vector vector_at(const Pass& pass, int x, int y) {
  Vector vector{};
  const int from = source_of(y, pass.size.height, pass.border);
  if (from == no_source) return vector;
  const std::uint8_t* const row = pass.input + from * pass.input_pitch;
  if (x >= 0 && x + 16 <= pass.size.width) return *reinterpret_cast<const Vector*>(row + x);
  FACESAT_UNROLL
  for (int i = 0; i < 16; ++i) {
    const int column = source_of(x + i, pass.size.width, pass.border);
    if (column != no_source)
      vector.words[i / 4] |= static_cast<std::uint32_t>(row[column]) << 8 * (i % 4);
  }
  return vector;
}

// Loads the tile whose first pixel is at (left, top).
template <int steps, class Pass>
__device__ __forceinline__ void load_tile(const Pass& pass, int left, int top) {
  const DynamicShared<std::uint32_t> shared;
  const DotTile<steps> tile(pass.radius);
  constexpr int vectors = tile.words / 4;  // of a row
  for (int k = static_cast<int>(threadIdx.x); k < vectors * tile.rows; k += dot_threads) {
    const Vector vector = vector_at(pass, left + k % vectors * 16, top + k / vectors);
    FACESAT_UNROLL
    for (int i = 0; i < 4; ++i) shared[4 * k + i] = vector.words[i];
  }
}

// A pixel of 8 bits is byte 2 of the sum plus 2^15, if weights have a sum of 256 each way.
template <bool is_normalised, class Pass>
__device__ __forceinline__ typename Pass::Out dot_result(const Pass& pass, std::uint32_t sum) {
  if constexpr (is_normalised)
    return static_cast<typename Pass::Out>((sum + 0x8000) >> 16);
  else
    return pass.result(sum);
}

template <bool is_normalised, class Pass>
__device__ __forceinline__ void store_group(const Pass& pass, int x, int y,
                                            const std::uint32_t (&sums)[group]) {
  using Out = typename Pass::Out;
  struct alignas(group * sizeof(Out)) Results {
    Out v[group];
  };
  Out* const to = pass.output + y * pass.output_pitch + x;
  Results results;
  FACESAT_UNROLL
  for (int k = 0; k < group; ++k) results.v[k] = dot_result<is_normalised>(pass, sums[k]);
  if (x + group <= pass.size.width) {
    *reinterpret_cast<Results*>(to) = results;
    return;
  }
  FACESAT_UNROLL
  for (int k = 0; k < group; ++k)
    if (x + k < pass.size.width) to[k] = results.v[k];
}

template <int steps, bool is_normalised, class Pass>
__global__ void __launch_bounds__(dot_threads)
    dot_kernel(Pass pass, FACESAT_PARAMETER(DotWeights<steps>) weights) {
  constexpr int warps = dot_threads / 32;
  static_assert(dot_width == 32 * group && dot_height == 2 * pairs_each * warps);
  const DynamicShared<std::uint32_t> shared;
  const DotTile<steps> tile(pass.radius);
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = thread / 32;
  const int left = static_cast<int>(blockIdx.x) * dot_width;
  const int top = static_cast<int>(blockIdx.y) * dot_height;
  load_tile<steps>(pass, left - dot_halo(steps), top - pass.radius.y);
  __syncthreads();

  // Rows: a warp has a pair of them, a lane a group of results.
  for (int pair = warp; pair < tile.pairs(); pair += warps) {
    std::uint32_t upper[group]{}, lower[group]{};
    const int from = 2 * pair * tile.words + dot_halo(steps) / 4 - steps + lane;
    FACESAT_UNROLL
    for (int i = 0; i < weights.words; ++i) {
      const std::uint32_t above = shared[from + i], below = shared[from + tile.words + i];
      FACESAT_UNROLL
      for (int k = 0; k < group; ++k) {
        upper[k] = __dp4a(above, weights.row[i][k], upper[k]);
        lower[k] = __dp4a(below, weights.row[i][k], lower[k]);
      }
    }
    FACESAT_UNROLL
    for (int k = 0; k < group; ++k)
      shared[tile.first_pair() + pair * dot_width + lane * group + k] = upper[k] | lower[k] << 16;
  }
  __syncthreads();

  // Columns: a lane has a group of them, a warp as many pairs of rows as it computes.
  std::uint32_t sums[2 * pairs_each][group]{};
  const int from = tile.first_pair() + warp * pairs_each * dot_width + lane * group;
  const int pairs = pass.radius.y + pairs_each;
  FACESAT_UNROLL
  for (int i = 0; i < weights.pairs + pairs_each - 1; ++i) {
    if (i >= pairs) break;
    std::uint32_t pair[group];
    FACESAT_UNROLL
    for (int k = 0; k < group; ++k) pair[k] = shared[from + i * dot_width + k];
    FACESAT_UNROLL
    for (int p = 0; p < pairs_each; ++p) {
      if (i < p || i - p >= weights.pairs) continue;
      const std::uint32_t four = weights.column[pairs_each - 1 + i - p];
      FACESAT_UNROLL
      for (int k = 0; k < group; ++k) {
        sums[2 * p][k] = __dp2a_lo(pair[k], four, sums[2 * p][k]);
        sums[2 * p + 1][k] = __dp2a_hi(pair[k], four, sums[2 * p + 1][k]);
      }
    }
  }
  const int x = left + lane * group, y = top + warp * 2 * pairs_each;
  if (x >= pass.size.width) return;
  FACESAT_UNROLL
  for (int j = 0; j < 2 * pairs_each; ++j)
    if (y + j < pass.size.height) store_group<is_normalised>(pass, x, y + j, sums[j]);
}

// Calls launch(std::integral_constant<int, steps>()) with the steps of the mask.
template <int steps = 1, class Launch>
void with_steps(Radius radius, Launch launch) {
  if constexpr (4 * steps < greatest_dot_radius)
    if (steps_of(radius) > steps) return with_steps<steps + 1>(radius, launch);
  launch(std::integral_constant<int, steps>());
}

template <bool is_normalised, class Pass>
void launch_dot(const Pass& pass, const FilterTask& task, StreamHandle stream) {
  with_steps(pass.radius, [&]<int steps>(std::integral_constant<int, steps>) {
    const DotWeights<steps> weights(task);
    FACESAT_LAUNCH_SHARED((dot_kernel<steps, is_normalised, Pass>),
                          grid_of(pass.size, dot_width, dot_height), dim3(dot_threads),
                          DotTile<steps>(pass.radius).bytes(), stream, pass, weights);
  });
}

bool is_normalised(const DeviceMask& mask) {
  const auto sum = [](const void* weights, int count) {
    const auto* const first = static_cast<const std::int32_t*>(weights);
    return std::accumulate(first, first + count, std::int64_t{});
  };
  return mask.divisor == 65536 && sum(mask.host_row, mask.radius.columns()) == 256 &&
         sum(mask.host_column, mask.radius.rows()) == 256;
}

// ---- all others

constexpr int width = 32, height = 32;  // of a tile's results
constexpr int rows_together = 8;        // threads, in y

int elements_of(Radius radius) {  // of the tile, and of the sums along its rows
  const int rows = height + 2 * radius.y;
  return rows * (width + 2 * radius.x) + rows * width;
}

template <class Pass>
__global__ void __launch_bounds__(width* rows_together) tile_kernel(Pass pass) {
  using Sum = typename Pass::Sum;
  const DynamicShared<Sum> shared;
  const auto [rx, ry] = pass.radius;
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  const int left = static_cast<int>(blockIdx.x) * width,
            top = static_cast<int>(blockIdx.y) * height;
  const int columns = width + 2 * rx, rows = height + 2 * ry, first_sum = columns * rows;
  for (int j = y; j < rows; j += rows_together)
    for (int i = x; i < columns; i += width)
      shared[j * columns + i] = value_of<Pass>(pass.at(left - rx + i, top - ry + j));
  __syncthreads();
  for (int j = y; j < rows; j += rows_together) {
    Sum sum{};
    for (int i = 0; i <= 2 * rx; ++i) sum += pass.row[i] * shared[j * columns + x + 2 * rx - i];
    shared[first_sum + j * width + x] = sum;
  }
  __syncthreads();
  for (int j = y; j < height; j += rows_together) {
    if (!pass.has(left + x, top + j)) continue;
    Sum sum{};
    for (int i = 0; i <= 2 * ry; ++i)
      sum += pass.column[i] * shared[first_sum + (j + 2 * ry - i) * width + x];
    pass.store(left + x, top + j, sum);
  }
}

std::string why_no_separable(const FilterTask& task) {
  return static_cast<std::size_t>(elements_of(task.mask.radius)) * 4 > most_shared_bytes &&
                 !has_dot_weights(task)
             ? "the tile exceeds shared memory"
             : "";
}

double reads(const FilterTask& task) {
  const auto [rx, ry] = task.mask.radius;
  return has_dot_weights(task) ? (1 + 2.0 * dot_halo(steps_of(task.mask.radius)) / dot_width) *
                                     (1 + 2.0 * ry / dot_height)
                               : (1 + 2.0 * rx / width) * (1 + 2.0 * ry / height);
}

void enqueue(const FilterTask& task, void*, StreamHandle stream) {
  with_pass(task, [&]<class Pass>(const Pass& pass) {
    if constexpr (sizeof(typename Pass::In) == 1)
      if (has_dot_weights(task)) {
        if constexpr (sizeof(typename Pass::Out) == 1)
          if (is_normalised(task.mask)) return launch_dot<true>(pass, task, stream);
        return launch_dot<false>(pass, task, stream);
      }
    FACESAT_LAUNCH_SHARED(tile_kernel<Pass>, grid_of(pass.size, width, height),
                          dim3(width, rows_together),
                          static_cast<std::size_t>(elements_of(pass.radius)) * 4, stream, pass);
  });
}

}  // namespace

const FilterAlgorithm facesat_separable{
    .id = "facesat_separable",
    .title = "One pass: rows, then columns, in shared memory",
    .source = "ours; Podlozhnyuk 2007",
    .takes = MaskKind::separable,
    .why_not = why_no_separable,
    .reads = reads,
    .enqueue = enqueue,
};

}  // namespace facesat::gpu
