// Box filter from an integral image (summed area table).
//
// Idea: a window's sum is a combination of four elements of the integral image, whatever its
//   radius; near the edges, of up to 25 (filters/interval.hpp), whatever the border.
// Shapes: those of the SAT algorithm, which the task chooses; then blocks of 32 x 8 threads, with
//   four pixels of a row each.
// Reads per pixel: those of the SAT algorithm, and four elements of the table.
// Launches: those of the SAT algorithm (one for the default), and 1; for real numbers, whose table
//   has 64 bits, one more, which converts them.
// Workspace: the table; that of the SAT algorithm; for real numbers, the converted picture.
// Source: lecture on convolution and integral images, appendix "Integral image"; F. C. Crow,
//   "Summed-area tables for texture mapping", SIGGRAPH 1984.
#include "kernels/filter/window_table.cuh"

namespace facesat::gpu {
namespace {

constexpr int block_width = 32, block_height = 8;  // threads
constexpr int pixels_each = 4;                     // of a row, 32 apart

// The type of the integral image.
template <class In>
using TableElement = std::conditional_t<std::is_same_v<In, float>, double, std::uint32_t>;

constexpr SatType sat_type_of(FilterType type) {
  return type == FilterType::f32_f32   ? SatType::f64_f64
         : type == FilterType::s32_s32 ? SatType::u32_u32
                                       : SatType::u8_u32;
}

std::size_t bytes_of_table(const FilterTask& task) {
  return table_bytes(task.size, info_of(sat_type_of(task.type)).table_bytes);
}

std::size_t workspace_bytes(const FilterTask& task) {
  const SatAlgorithm& sat = sat_or_default(task.sat);
  return bytes_of_table(task) + (task.type == FilterType::f32_f32
                                     ? powers_workspace_bytes(task.size, sat)
                                     : sat.workspace_bytes(sat_type_of(task.type), task.size));
}

double reads(const FilterTask& task) {
  return sat_or_default(task.sat).reads + 4;
}

template <class Pass, class Sum>
__device__ __forceinline__ void store_sum(const Pass& pass, int x, int y, Sum sum) {
  if constexpr (std::is_same_v<Sum, double>)
    pass.output[y * pass.output_pitch + x] =
        static_cast<float>(sum / static_cast<double>(pass.divisor));
  else
    pass.store(x, y, sum);
}

template <class Pass, class Table>
__global__ void __launch_bounds__(block_width* block_height) box_kernel(Pass pass, Table table) {
  const int x =
      static_cast<int>(blockIdx.x) * block_width * pixels_each + static_cast<int>(threadIdx.x);
  const int y = static_cast<int>(blockIdx.y) * block_height + static_cast<int>(threadIdx.y);
  if (y >= pass.size.height) return;
  constexpr int last = block_width * (pixels_each - 1);
  if (table.is_inside(x, x + last, y, pass.radius)) {
    // The corners of the first window; those of the others lie at constant distances.
    const auto *const top = table.place(x - pass.radius.x, y - pass.radius.y),
                      *const bottom = table.place(x - pass.radius.x, y + pass.radius.y + 1);
    const int across = pass.radius.columns();
    FACESAT_UNROLL
    for (int i = 0; i <= last; i += block_width)
      store_sum(pass, x + i, y, bottom[across + i] - bottom[i] - (top[across + i] - top[i]));
    return;
  }
  for (int i = 0; i <= last && x + i < pass.size.width; i += block_width)
    store_sum(pass, x + i, y, table.sum(x + i, y, pass.radius, pass.border));
}

void enqueue(const FilterTask& task, void* workspace, StreamHandle stream) {
  const SatAlgorithm& sat = sat_or_default(task.sat);
  with_pass(task, [&]<class Pass>(const Pass& pass) {
    using In = typename Pass::In;
    using Element = TableElement<In>;
    const auto table = table_in<Element>(workspace, task.size);
    void* const rest = static_cast<std::byte*>(workspace) + bytes_of_table(task);
    const View<const In> picture{pass.input, task.size, pass.input_pitch};
    if constexpr (std::is_same_v<In, float>)
      enqueue_table_of_powers<1>(picture, table, sat, rest, stream);
    else
      enqueue_tables(sat_type_of(task.type), picture, table, {}, sat, rest, stream);
    FACESAT_LAUNCH((box_kernel<Pass, WindowTable<Element>>),
                   grid_of(task.size, block_width * pixels_each, block_height),
                   dim3(block_width, block_height), stream, pass, table);
  });
}

}  // namespace

const FilterAlgorithm integral_box{
    .id = "integral_box",
    .title = "From an integral image",
    .source = "lecture; Crow 1984",
    .takes = MaskKind::ones,
    .reads = reads,
    .launches = 2,
    .workspace_bytes = workspace_bytes,
    .enqueue = enqueue,
};

}  // namespace facesat::gpu
