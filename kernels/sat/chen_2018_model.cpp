#include "kernels/sat/chen_2018_model.hpp"

namespace facesat::gpu {
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

double latency_us(double clocks, const SatAlgorithm& sat, const SatTypeInfo& type, Size size,
                  int tables, const MicroFigures& figures) {
  return bytes_us(sat, type, size, tables, figures) + tables * microseconds(clocks, figures);
}

}  // namespace facesat::gpu
