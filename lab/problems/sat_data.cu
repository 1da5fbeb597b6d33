// The floor of a SAT algorithm, which reads each pixel once and writes each table element once; and
// kernels that fill a picture and check a table.
#include "kernels/sat/pass.cuh"
#include "lab/problems/sat.hpp"

namespace facesat::gpu {
namespace {

constexpr int block_width = 64, block_height = 4;  // threads
constexpr int rows_per_thread = 2;

__device__ __forceinline__ std::uint32_t hash(std::uint32_t x, std::uint32_t y,
                                              std::uint32_t seed) {
  std::uint32_t h = x * 0x9E3779B1u ^ (y * 0x85EBCA77u + seed);
  h = (h ^ h >> 15) * 0x2C1B3C6Du;
  h = (h ^ h >> 12) * 0x297A2D39u;
  return h ^ h >> 15;
}

template <class In, class Out>
__global__ void fill_kernel(In* input, std::ptrdiff_t pitch, Size size, std::uint32_t seed) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (x >= size.width) return;
  for (int y = static_cast<int>(blockIdx.y); y < size.height; y += static_cast<int>(gridDim.y)) {
    const std::uint32_t h =
        hash(static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y), seed);
    // Sums of floating point must be exact in any order: few pixels are 1, the others 0.
    constexpr bool is_real = static_cast<Out>(0.5) != Out{};
    input[y * pitch + x] = static_cast<In>(is_real ? (h & 127) == 0 : h);
  }
}

template <class In, class Out>
struct FloorTask {
  Size size;
  const In* input;
  std::ptrdiff_t input_pitch;
  Out* table[2];  // the second may be null
  std::ptrdiff_t pitch[2];
};

// Consecutive elements that a thread writes in each of its rows: 16 bytes together.
template <class Out>
constexpr int elements = 16 / sizeof(Out);

template <class T, int n>
struct alignas(n * sizeof(T)) Group {
  T v[n];
};

// The floor, for one thread's elements at (x, y). all_inside: no column is past the right edge.
template <bool all_inside, class In, class Out>
__device__ __forceinline__ void convert(const FloorTask<In, Out>& task, int x, int y) {
  constexpr int n = elements<Out>;
  Group<In, n> pixels[rows_per_thread];
  FACESAT_UNROLL
  for (int i = 0; i < rows_per_thread; ++i)
    if (y + i < task.size.height) {
      const In* const from = task.input + (y + i) * task.input_pitch + x;
      if (all_inside) {
        pixels[i] = *reinterpret_cast<const Group<In, n>*>(from);
      } else {
        // Unrolled, because a variable index would put `pixels` into local memory.
        FACESAT_UNROLL
        for (int k = 0; k < n; ++k) pixels[i].v[k] = x + k < task.size.width ? from[k] : In{};
      }
    }
  FACESAT_UNROLL
  for (int i = 0; i < rows_per_thread; ++i) {
    if (y + i >= task.size.height) return;
    Group<Out, n> values;
    FACESAT_UNROLL
    for (int k = 0; k < n; ++k) values.v[k] = static_cast<Out>(pixels[i].v[k]);
    FACESAT_UNROLL
    for (int t = 0; t < 2; ++t) {
      if (!task.table[t]) continue;
      Out* const to = task.table[t] + (y + i) * task.pitch[t] + x;
      if (all_inside) {
        *reinterpret_cast<Group<Out, n>*>(to) = values;
      } else {
        FACESAT_UNROLL
        for (int k = 0; k < n; ++k)
          if (x + k < task.size.width) to[k] = values.v[k];
      }
    }
  }
}

template <class In, class Out>
__global__ void floor_kernel(FloorTask<In, Out> task) {
  const int x = elements<Out> * static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int y = rows_per_thread * static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  if (x + elements<Out> <= task.size.width)
    convert<true>(task, x, y);
  else
    convert<false>(task, x, y);
}

template <class Pass>
__global__ void check_kernel(Pass pass, unsigned* wrong) {
  using Out = typename Pass::Out;
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (x >= pass.size.width) return;
  for (int y = static_cast<int>(blockIdx.y); y < pass.size.height;
       y += static_cast<int>(gridDim.y)) {
    const Out *here = pass.row(y) + x, *above = pass.row(y - 1) + x;
    const Out expected =
        static_cast<Out>(pass.value_at(x, y) + (here[-1] + (above[0] - above[-1])));
    if (here[0] != expected) atomicAdd(wrong, 1u);
  }
}

dim3 grid_of_columns(Size size, int threads) {
  return dim3(static_cast<unsigned>(divide_up(size.width, threads)),
              static_cast<unsigned>(std::min(size.height, on_host ? 2 : 1024)));
}

}  // namespace

void enqueue_fill(const SatTask& task, std::uint32_t seed, StreamHandle stream) {
  visit_types(task.type, [&]<class In, class Out>(In, Out) {
    auto* const input = const_cast<In*>(static_cast<const In*>(task.input));
    FACESAT_LAUNCH((fill_kernel<In, Out>), grid_of_columns(task.size, 256), dim3(256), stream,
                   input, task.input_pitch, task.size, seed);
  });
}

void enqueue_floor(const SatTask& task, StreamHandle stream) {
  visit_types(task.type, [&]<class In, class Out>(In, Out) {
    const FloorTask<In, Out> floor{
        task.size,
        static_cast<const In*>(task.input),
        task.input_pitch,
        {static_cast<Out*>(task.sum), static_cast<Out*>(task.squared_sum)},
        {task.sum_pitch, task.squared_pitch}};
    const dim3 grid(
        static_cast<unsigned>(divide_up(task.size.width, elements<Out> * block_width)),
        static_cast<unsigned>(divide_up(task.size.height, rows_per_thread * block_height)));
    FACESAT_LAUNCH((floor_kernel<In, Out>), grid, dim3(block_width, block_height), stream, floor);
  });
}

void enqueue_check(const SatTask& task, unsigned* wrong, StreamHandle stream) {
  for_each_table(task, [&]<class Pass>(const Pass& pass) {
    FACESAT_LAUNCH(check_kernel<Pass>, grid_of_columns(task.size, 256), dim3(256), stream, pass,
                   wrong);
  });
}

}  // namespace facesat::gpu
