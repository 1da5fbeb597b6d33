// Statistics of windows from integral images (summed area tables).
//
// Idea: the sums of a window's values, squares and cubes are differences of three integral images,
//   so each statistic takes constant time per pixel, whatever the radius.
// Shapes: those of the SAT algorithm; then blocks of 32 x 8 threads.
// Reads per pixel: those of the SAT algorithm, and four elements of each table.
// Launches: those of the SAT algorithm, and 1; for each table of 64 bits, one more.
// Workspace: the tables; that of the SAT algorithm; for tables of 64 bits, a picture of 64 bits.
//   The squares of more than 66051 pixels may exceed 32 bits, and cubes always do; those tables are
//   of real numbers of 64 bits, which are exact for whole numbers up to 2^53.
// Source: lecture on convolution and integral images, appendix "Integral image": mean, variance,
//   skewness. D. Bradley, G. Roth, "Adaptive thresholding using the integral image", Journal of
//   Graphics Tools 2007.
#include <utility>

#include "filters/rounding.hpp"
#include "kernels/filter/statistics.hpp"
#include "kernels/filter/window_table.cuh"

namespace facesat::gpu {
namespace {

constexpr int block_width = 32, block_height = 8;
constexpr std::int64_t most_pixels_of_squares = 66051;  // 2^32 / 255^2

using SumTable = WindowTable<std::uint32_t>;
using PowerTable = WindowTable<double>;

bool needs_squares(Statistic statistic) {
  return statistic != Statistic::mean && statistic != Statistic::threshold;
}
bool needs_cubes(Statistic statistic) {
  return statistic == Statistic::skewness || statistic == Statistic::skewness_pixel;
}
bool needs_wide_squares(const StatisticTask& task) {
  return needs_squares(task.statistic) && task.radius.area() > most_pixels_of_squares;
}

// The tables that a statistic needs; the others are empty.
struct Tables {
  SumTable sum, squares;
  PowerTable wide_squares, cubes;

  __device__ __forceinline__ WindowSums at(int x, int y, Radius radius, Border border) const {
    WindowSums sums{.pixels = radius.area()};
    sums.sum = sum.sum(x, y, radius, border);
    if (squares.first)
      sums.squares = squares.sum(x, y, radius, border);
    else if (wide_squares.first)
      sums.squares = static_cast<std::int64_t>(wide_squares.sum(x, y, radius, border));
    if (cubes.first) sums.cubes = cubes.sum(x, y, radius, border);
    return sums;
  }
};

// Reads the window.
struct Direct {
  View<const std::uint8_t> picture;

  __device__ __forceinline__ WindowSums at(int x, int y, Radius radius, Border border) const {
    WindowSums sums{.pixels = radius.area()};
    for (int v = y - radius.y; v <= y + radius.y; ++v) {
      const int row = source_of(v, picture.size.height, border);
      for (int u = x - radius.x; row != no_source && u <= x + radius.x; ++u) {
        const int column = source_of(u, picture.size.width, border);
        const std::int64_t pixel = column == no_source ? 0 : picture.row(row)[column];
        sums.sum += pixel;
        sums.squares += pixel * pixel;
        sums.cubes += static_cast<double>(pixel * pixel * pixel);
      }
    }
    return sums;
  }
};

template <Statistic statistic>
using Result =
    std::conditional_t<statistic == Statistic::variance || statistic == Statistic::skewness, float,
                       std::uint8_t>;

template <Statistic statistic>
__device__ __forceinline__ Result<statistic> result_of(const WindowSums& sums, std::uint8_t pixel,
                                                       int offset) {
  if constexpr (statistic == Statistic::mean) return rounded_pixel(sums.sum, sums.pixels);
  if constexpr (statistic == Statistic::threshold) return threshold_pixel(pixel, sums, offset);
  if constexpr (statistic == Statistic::deviation) return deviation_pixel(sums);
  if constexpr (statistic == Statistic::skewness_pixel) return skewness_pixel(sums);
  if constexpr (statistic == Statistic::variance) return static_cast<float>(variance_of(sums));
  if constexpr (statistic == Statistic::skewness) return static_cast<float>(skewness_of(sums));
}

template <Statistic statistic, class Windows>
__global__ void __launch_bounds__(block_width* block_height)
    statistic_kernel(View<const std::uint8_t> picture, View<Result<statistic>> result,
                     Windows windows, Radius radius, Border border, int offset) {
  const auto [x, y] = pixel_of_thread();
  if (x >= picture.size.width || y >= picture.size.height) return;
  result.row(y)[x] =
      result_of<statistic>(windows.at(x, y, radius, border), picture.row(y)[x], offset);
}

template <Statistic statistic, class Windows>
void launch(const StatisticTask& task, const Windows& windows, StreamHandle stream) {
  using Element = Result<statistic>;
  const View<Element> result{static_cast<Element*>(task.output), task.picture.size,
                             task.output_pitch};
  FACESAT_LAUNCH((statistic_kernel<statistic, Windows>),
                 grid_of(task.picture.size, block_width, block_height),
                 dim3(block_width, block_height), stream, task.picture, result, windows,
                 task.radius, task.border, task.offset);
}

template <class Windows>
void launch_any(const StatisticTask& task, const Windows& windows, StreamHandle stream) {
  switch (task.statistic) {
    case Statistic::mean:
      return launch<Statistic::mean>(task, windows, stream);
    case Statistic::threshold:
      return launch<Statistic::threshold>(task, windows, stream);
    case Statistic::deviation:
      return launch<Statistic::deviation>(task, windows, stream);
    case Statistic::skewness_pixel:
      return launch<Statistic::skewness_pixel>(task, windows, stream);
    case Statistic::variance:
      return launch<Statistic::variance>(task, windows, stream);
    case Statistic::skewness:
      return launch<Statistic::skewness>(task, windows, stream);
  }
}

// The parts of a workspace, one after the other.
struct Workspace {
  std::size_t sum, squares, sat, wide_squares, cubes, powers;  // bytes

  explicit Workspace(const StatisticTask& task) {
    const Size size = task.picture.size;
    const bool wide = needs_wide_squares(task), has_cubes = needs_cubes(task.statistic);
    sum = table_bytes(size, 4);
    squares = needs_squares(task.statistic) && !wide ? sum : 0;
    sat = round_up_256(sat_or_default(task.sat).workspace_bytes(SatType::u8_u32, size));
    wide_squares = wide ? table_bytes(size, 8) : 0;
    cubes = has_cubes ? table_bytes(size, 8) : 0;
    powers = wide || has_cubes ? powers_workspace_bytes(size, sat_or_default(task.sat)) : 0;
  }
  std::size_t bytes() const { return sum + squares + sat + wide_squares + cubes + powers; }
};

__global__ void gradient_kernel(View<const std::int32_t> dx, View<const std::int32_t> dy,
                                int radius, View<std::uint8_t> result) {
  const auto [x, y] = pixel_of_thread();
  if (x < result.size.width && y < result.size.height)
    result.row(y)[x] = gradient_pixel(dx.row(y)[x], dy.row(y)[x], radius);
}

std::size_t bytes_of_picture(Size size) {
  return round_up_256(static_cast<std::size_t>(divide_up(size.width, 128)) * 128 *
                      static_cast<std::size_t>(size.height));
}
View<std::uint8_t> picture_in(void* memory, Size size) {
  return {static_cast<std::uint8_t*>(memory), size, divide_up(size.width, 128) * 128};
}

}  // namespace

std::size_t statistic_workspace_bytes(const StatisticTask& task) {
  return Workspace(task).bytes();
}

void enqueue_statistic(const StatisticTask& task, void* workspace, StreamHandle stream) {
  const SatAlgorithm& sat = sat_or_default(task.sat);
  const Workspace parts(task);
  const Size size = task.picture.size;
  auto* next = static_cast<std::byte*>(workspace);
  const auto part = [&](std::size_t bytes) { return std::exchange(next, next + bytes); };
  Tables tables{};
  tables.sum = table_in<std::uint32_t>(part(parts.sum), size);
  if (parts.squares) tables.squares = table_in<std::uint32_t>(part(parts.squares), size);
  enqueue_tables(SatType::u8_u32, task.picture, tables.sum, tables.squares, sat, part(parts.sat),
                 stream);
  if (parts.wide_squares) tables.wide_squares = table_in<double>(part(parts.wide_squares), size);
  if (parts.cubes) tables.cubes = table_in<double>(part(parts.cubes), size);
  if (parts.wide_squares)
    enqueue_table_of_powers<2>(task.picture, tables.wide_squares, sat, next, stream);
  if (parts.cubes) enqueue_table_of_powers<3>(task.picture, tables.cubes, sat, next, stream);
  launch_any(task, tables, stream);
}

void enqueue_direct_statistic(const StatisticTask& task, StreamHandle stream) {
  launch_any(task, Direct{task.picture}, stream);
}

std::size_t three_boxes_workspace_bytes(const StatisticTask& task) {
  StatisticTask mean = task;
  mean.statistic = Statistic::mean;
  return 2 * bytes_of_picture(task.picture.size) + statistic_workspace_bytes(mean);
}

void enqueue_three_boxes(const StatisticTask& task, const ThreeBoxes& boxes,
                         View<std::uint8_t> result, void* workspace, StreamHandle stream) {
  const Size size = task.picture.size;
  auto* const memory = static_cast<std::byte*>(workspace);
  const View<std::uint8_t> first = picture_in(memory, size),
                           second = picture_in(memory + bytes_of_picture(size), size);
  StatisticTask mean = task;
  mean.statistic = Statistic::mean;
  const auto pass = [&](View<const std::uint8_t> from, View<std::uint8_t> to, int radius) {
    mean.picture = from;
    mean.output = to.data;
    mean.output_pitch = to.pitch;
    mean.radius = {radius, radius};
    enqueue_statistic(mean, memory + 2 * bytes_of_picture(size), stream);
  };
  pass(task.picture, first, boxes.radius[0]);
  pass(first, second, boxes.radius[1]);
  pass(second, result, boxes.radius[2]);
}

void enqueue_gradient(View<const std::int32_t> dx, View<const std::int32_t> dy, int radius,
                      View<std::uint8_t> result, StreamHandle stream) {
  FACESAT_LAUNCH(gradient_kernel, grid_of(result.size, block_width, block_height),
                 dim3(block_width, block_height), stream, dx, dy, radius, result);
}

}  // namespace facesat::gpu
