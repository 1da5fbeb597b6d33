#include "kernels/sat/model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "kernels/sat/algorithm.hpp"

namespace facesat::gpu {

double copy_bytes_per_us(const MicroFigures& figures) {
  return std::max(figures.memcpy_bytes_per_s, figures.kernel_copy_bytes_per_s) / 1e6;
}

double microseconds(double clocks, const MicroFigures& figures) {
  return clocks / figures.clock_hz * 1e6;
}

// All writes but the last are of intermediate tables, each of which is read once; all other reads
// are of the picture.
double bytes_us(const SatAlgorithm& sat, const SatTypeInfo& type, Size size, int tables,
                const MicroFigures& figures) {
  const int passes = sat.both_at_once ? 1 : tables;
  const double table_reads = sat.writes - 1, pixel_reads = sat.reads - table_reads;
  const double bytes_per_element =
      passes * pixel_reads * static_cast<double>(type.input_bytes) +
      tables * (table_reads + sat.writes) * static_cast<double>(type.table_bytes);
  return static_cast<double>(size.area()) * bytes_per_element / copy_bytes_per_us(figures) +
         passes * sat.launches * figures.launch_us;
}

namespace {

// The side of a register matrix (the paper's C and WarpSize), and the steps of its 32 row scans.
constexpr int side = 32, scan_stages = 5 * side;

int threads_of_block(const SatTypeInfo& type) {
  return 4096 / static_cast<int>(type.table_bytes);
}

// A kernel whose blocks take `steps` steps each, and each step `clocks` clocks after the read.
double kernel_clocks(int blocks, int steps, double clocks, const MicroFigures& figures) {
  return 1.0 * divide_up(blocks, figures.multiprocessors) * steps * (figures.global_read + clocks);
}

// Blocks of 32 lines, as many elements per step as threads; the second kernel runs across the
// first.
double scan_transpose_twice(double clocks, const SatTypeInfo& type, Size size,
                            const MicroFigures& figures) {
  const int threads = threads_of_block(type);
  return kernel_clocks(divide_up(size.height, side), divide_up(size.width, threads), clocks,
                       figures) +
         kernel_clocks(divide_up(size.width, side), divide_up(size.height, threads), clocks,
                       figures);
}

// The additions of all lanes per second, of elements of a table.
double adds_per_s(const SatTypeInfo& type, const MicroFigures& figures) {
  switch (type.type) {
    case SatType::u8_f32:
    case SatType::f32_f32:
      return figures.f32_adds_per_s;
    case SatType::f64_f64:
      return figures.f64_adds_per_s;
    default:
      return figures.adds_per_s;
  }
}

// Instructions that all 32 lanes of a warp take part in.
double shuffle_seconds(int instructions, const SatTypeInfo& type, const MicroFigures& figures) {
  const double words = static_cast<double>(type.table_bytes) / 4;
  return instructions * side * words / figures.shuffles_per_s;
}

// Steps of kernels that process `threads_of_block` elements of a line per step.
int steps_along(int length, const SatTypeInfo& type) {
  return divide_up(length, threads_of_block(type));
}

ChenKernels scan_transpose_kernels(double matrix_seconds, const SatTypeInfo& type, Size size) {
  return {{{steps_along(size.width, type), matrix_seconds},
           {steps_along(size.height, type), matrix_seconds}}};
}

}  // namespace

double chen_transpose_clocks(const MicroFigures& figures) {
  return 2 * side * figures.shared_read;
}

double chen_scan_rows_clocks(RowScan scan, const MicroFigures& figures) {
  const double selection = scan == RowScan::ladner_fischer ? figures.bit_and : 0;
  return scan_stages * (figures.shuffle + figures.add + selection);
}

double chen_scan_columns_clocks(const MicroFigures& figures) {
  return (side - 1) * figures.add;
}

Inequality chen_latencies(RowScan scan, const MicroFigures& figures) {
  return {chen_transpose_clocks(figures) + chen_scan_columns_clocks(figures),
          chen_scan_rows_clocks(scan, figures)};
}

double chen_brlt_scan_row_clocks(const SatTypeInfo& type, Size size, const MicroFigures& figures) {
  return scan_transpose_twice(chen_transpose_clocks(figures) + chen_scan_columns_clocks(figures),
                              type, size, figures);
}

double chen_scan_row_brlt_clocks(RowScan scan, const SatTypeInfo& type, Size size,
                                 const MicroFigures& figures) {
  return scan_transpose_twice(chen_scan_rows_clocks(scan, figures) + chen_transpose_clocks(figures),
                              type, size, figures);
}

// The first kernel has one row per warp, 1024 pixels per step, and a carry from each 32 pixels to
// the next. The second has strips of 32 columns.
double chen_scan_row_column_clocks(RowScan scan, const SatTypeInfo& type, Size size,
                                   const MicroFigures& figures) {
  const int threads = threads_of_block(type), warps = threads / side;
  const double carries = side * (figures.shuffle + figures.add);
  return kernel_clocks(divide_up(size.height, warps), divide_up(size.width, side * side),
                       chen_scan_rows_clocks(scan, figures) + carries, figures) +
         kernel_clocks(divide_up(size.width, side), divide_up(size.height, threads),
                       chen_scan_columns_clocks(figures), figures);
}

double chen_transpose_seconds(const SatTypeInfo& type, const MicroFigures& figures) {
  return 2.0 * side * side * static_cast<double>(type.table_bytes) / figures.shared_bytes_per_s;
}

double chen_scan_columns_add_seconds(const SatTypeInfo& type, const MicroFigures& figures) {
  return side * (side - 1) / adds_per_s(type, figures);
}

double chen_shuffle_seconds(const SatTypeInfo& type, const MicroFigures& figures) {
  return shuffle_seconds(scan_stages, type, figures);
}

double chen_scan_rows_add_seconds(RowScan scan, const SatTypeInfo& type,
                                  const MicroFigures& figures) {
  const int of_row = scan == RowScan::kogge_stone ? 31 + 30 + 28 + 24 + 16 : 5 * 16;
  return side * of_row / adds_per_s(type, figures);
}

double chen_ladner_fischer_and_seconds(const MicroFigures& figures) {
  return side * scan_stages / figures.ands_per_s;
}

double chen_scan_rows_seconds(RowScan scan, const SatTypeInfo& type, const MicroFigures& figures) {
  return chen_scan_rows_add_seconds(scan, type, figures) +
         (scan == RowScan::ladner_fischer ? chen_ladner_fischer_and_seconds(figures) : 0) +
         chen_shuffle_seconds(type, figures);
}

Inequality chen_throughputs(RowScan scan, const SatTypeInfo& type, const MicroFigures& figures) {
  return {chen_transpose_seconds(type, figures) + chen_scan_columns_add_seconds(type, figures),
          chen_scan_rows_seconds(scan, type, figures)};
}

int chen_warps_per_block(const LaunchFigures& launch) {
  const auto [x, y, z] = launch.block;
  return static_cast<int>(x * y * z) / side;
}

int chen_active_warps(const LaunchFigures& launch, const MicroFigures& figures) {
  const int warps = chen_warps_per_block(launch),
            shared = static_cast<int>(launch.static_bytes + launch.dynamic_bytes);
  const auto& [registers, shared_bytes, blocks, threads] = figures.limits;
  const int fit = std::min({registers / (launch.registers * side * warps),
                            shared > 0 ? shared_bytes / shared : std::numeric_limits<int>::max(),
                            std::min(blocks, threads / (side * warps))});
  return figures.multiprocessors * fit * warps;
}

double chen_shared_bytes_per_s_of_warp(const LaunchFigures& launch, const MicroFigures& figures) {
  return figures.shared_bytes_per_s / chen_active_warps(launch, figures);
}

ChenKernels chen_brlt_scan_row_kernels(const SatTypeInfo& type, Size size,
                                       const MicroFigures& figures) {
  return scan_transpose_kernels(
      chen_transpose_seconds(type, figures) + chen_scan_columns_add_seconds(type, figures), type,
      size);
}

ChenKernels chen_scan_row_brlt_kernels(RowScan scan, const SatTypeInfo& type, Size size,
                                       const MicroFigures& figures) {
  return scan_transpose_kernels(
      chen_scan_rows_seconds(scan, type, figures) + chen_transpose_seconds(type, figures), type,
      size);
}

// As in the latency half, the first kernel has a carry from each 32 pixels to the next: a shuffle,
// and an addition in one lane.
ChenKernels chen_scan_row_column_kernels(RowScan scan, const SatTypeInfo& type, Size size,
                                         const MicroFigures& figures) {
  const double carries = shuffle_seconds(side, type, figures) + side / adds_per_s(type, figures);
  return {
      {{divide_up(size.width, side * side), chen_scan_rows_seconds(scan, type, figures) + carries},
       {steps_along(size.height, type), chen_scan_columns_add_seconds(type, figures)}}};
}

double chen_kernel_seconds(const ChenKernel& kernel, const LaunchFigures& launch,
                           const MicroFigures& figures) {
  const auto [x, y, z] = launch.grid;
  const int active = chen_active_warps(launch, figures);
  const int waves = divide_up(static_cast<int>(x * y * z) * chen_warps_per_block(launch), active);
  return 1.0 * waves * kernel.steps * active * kernel.matrix_seconds;
}

double throughput_us(const ChenKernels& kernels, const SatAlgorithm& sat, const SatTypeInfo& type,
                     Size size, int tables, const MicroFigures& figures,
                     std::span<const LaunchFigures> launches) {
  double us = bytes_us(sat, type, size, tables, figures);
  for (std::size_t i = 0; i < launches.size(); ++i)
    us += 1e6 * chen_kernel_seconds(kernels[i % kernels.size()], launches[i], figures);
  return us;
}

double latency_us(double clocks, const SatAlgorithm& sat, const SatTypeInfo& type, Size size,
                  int tables, const MicroFigures& figures) {
  return bytes_us(sat, type, size, tables, figures) + tables * microseconds(clocks, figures);
}

namespace {

double elements(Size size) {
  return static_cast<double>(size.area());
}

int anti_diagonals(Size size) {
  return size.width + size.height - 1;
}

// The size in blocks of w x w elements, rounded up.
Size in_blocks(Size size, int w) {
  return {divide_up(size.width, w), divide_up(size.height, w)};
}

// The paper's k: how often the matrix of the sums of blocks, with `blocks` elements along its
// longer side, is divided into blocks again until one block is left.
int recursion_depth(int blocks, int w) {
  int depth = 0;
  for (; blocks > w; blocks = divide_up(blocks, w)) ++depth;
  return depth;
}

}  // namespace

HmmCost hmm_2r2w(Size size) {
  const double n = elements(size);
  return {.pixels = n, .table = n, .stride_table = 2 * n, .barriers = 1};
}

HmmCost hmm_4r4w(Size size) {
  const double n = elements(size);
  return {.pixels = n, .table = 7 * n, .barriers = 3};
}

HmmCost hmm_2r1w(Size size, int w) {
  const double n = elements(size);
  const Size blocks = in_blocks(size, w);
  const int k = recursion_depth(std::max(blocks.width, blocks.height), w);
  return {.pixels = 2 * n, .table = n + 8 * n / w, .barriers = 2.0 * k + 2};
}

HmmCost hmm_4r1w(Size size) {
  const double n = elements(size);
  return {.stride_pixels = n, .stride_table = 4 * n, .barriers = anti_diagonals(size) - 1.0};
}

HmmCost hmm_1r1w(Size size, int w) {
  const double n = elements(size);
  return {.pixels = n, .table = n, .barriers = anti_diagonals(in_blocks(size, w)) - 1.0};
}

int diagonal_length(Size matrix, int k) {
  const auto [width, height] = matrix;
  return std::min({k + 1, width, height, anti_diagonals(matrix) - k});
}

int corner_diagonals(Size tiles, double r) {
  // The tiles of both corners; a little more than r says, because r may have been rounded down.
  const double wanted = r * elements(tiles) + 1e-3;
  double made = 0;  // of one corner
  int count = 0;
  for (; count < anti_diagonals(tiles); ++count) {
    const int length = diagonal_length(tiles, count);
    if (2 * made + length > wanted) break;
    made += length;
  }
  return count;
}

// 2R1W makes a corner, 1R1W what is between the corners, and 2R1W the other corner, if there are
// such tiles; each step of these but the very last one ends in a barrier.
HmmCost hmm_hybrid(Size size, double r, int w) {
  const double n = elements(size);
  const Size blocks = in_blocks(size, w);
  const int all = anti_diagonals(blocks), first = corner_diagonals(blocks, r),
            last = std::min(first, all - first);
  const int k = recursion_depth(std::min(first, std::max(blocks.width, blocks.height)), w);
  const auto steps = [&](int diagonals) { return diagonals > 0 ? 2.0 * k + 3 : 0.0; };
  return {.pixels = (1 + r) * n,
          .table = n,
          .barriers = steps(first) + (all - first - last) + steps(last) - 1};
}

int pipeline_stages(MemoryMachine machine, std::span<const int> addresses, int w) {
  const std::set<int> distinct(addresses.begin(), addresses.end());
  std::map<int, int> per_place;  // of distinct addresses: in each bank, or in each group
  int most = 0;
  for (const int address : distinct)
    most =
        std::max(most, ++per_place[machine == MemoryMachine::discrete ? address % w : address / w]);
  return machine == MemoryMachine::discrete ? most : static_cast<int>(per_place.size());
}

int access_time_units(MemoryMachine machine, std::span<const std::vector<int>> warps, int l,
                      int w) {
  int stages = 0;
  for (const std::vector<int>& addresses : warps) stages += pipeline_stages(machine, addresses, w);
  return stages > 0 ? stages + l - 1 : 0;
}

double hmm_time_units(const HmmCost& cost, double l, int w) {
  return (cost.pixels + cost.table) / w + cost.stride_pixels + cost.stride_table +
         (cost.barriers + 1) * (l - 1);
}

double hmm_us(const HmmCost& cost, const SatTypeInfo& type, const MicroFigures& figures) {
  const double bytes =
      (cost.pixels + hmm_width * cost.stride_pixels) * static_cast<double>(type.input_bytes) +
      (cost.table + hmm_width * cost.stride_table) * static_cast<double>(type.table_bytes);
  const double l_us = microseconds(figures.global_read, figures) + figures.launch_us;
  return bytes / copy_bytes_per_us(figures) + (cost.barriers + 1) * l_us;
}

}  // namespace facesat::gpu
