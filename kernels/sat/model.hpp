// The expected times of SAT (summed area table) algorithms, by the models of their papers, and the
// figures of a GPU that they are computed from.
#pragma once

#include <array>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "core/image.hpp"
#include "kernels/sat/algorithm.hpp"

namespace facesat::gpu {

// ---- figures of a GPU, and of the kernels launched on it; lab/micro.hpp measures the GPU's

// What a multiprocessor has room for at a time: 32-bit registers, bytes of shared memory, blocks
// and threads.
struct MultiprocessorLimits {
  int registers = 0, shared_bytes = 0, blocks = 0, threads = 0;
};

struct MicroFigures {
  int multiprocessors = 0;
  MultiprocessorLimits limits;  // of each of them
  double clock_hz = 0;          // of the multiprocessors, during the measurement
  // Latencies in clocks: from an instruction until another one can use its result, within one warp.
  double shuffle = 0, shared_read = 0, add = 0, bit_and = 0, l2_read = 0, global_read = 0;
  // Bytes read plus bytes written, per second: by cudaMemcpy, and by a kernel.
  double memcpy_bytes_per_s = 0, kernel_copy_bytes_per_s = 0;
  // Throughputs of the whole chip. Operations are counted per lane, as in NVIDIA's programming
  // guide: one instruction of a warp is 32 of them. Adds, bitwise ands and shuffles are those of 32
  // bits; shared memory is read 4 bytes per lane, without bank conflicts.
  double shared_bytes_per_s = 0, shuffles_per_s = 0, adds_per_s = 0, ands_per_s = 0;
  double f32_adds_per_s = 0, f64_adds_per_s = 0;
  double launch_us = 0;  // from the end of a kernel to that of an empty one after it
};

// A launch of a kernel, and what its compiled code needs.
struct LaunchFigures {
  std::string kernel;  // its name, without template arguments
  std::array<unsigned, 3> grid{}, block{};
  int registers = 0;                                // per thread
  std::size_t static_bytes = 0, dynamic_bytes = 0;  // of shared memory, per block
  int resident_blocks = 0;                          // that a multiprocessor has room for at a time
};

// The speed of the faster copy: cudaMemcpy's or a kernel's.
double copy_bytes_per_us(const MicroFigures& figures);

// Converts clocks of the multiprocessors to microseconds.
double microseconds(double clocks, const MicroFigures& figures);

// ---- the models of P. Chen et al.: Efficient Algorithms for the Summed Area Tables Primitive on
// GPUs, CLUSTER 2018, section V. Both count what a register matrix of 32 x 32 elements costs:
// section V-B the latencies of the one warp that processes it, section V-C its share of the chip's
// throughputs. From both we derive the time of a whole picture as the paper's section IV describes
// the kernels.

enum class RowScan { kogge_stone, ladner_fischer };

// The paper's << and >>. Its own figures of P100 differ by 2.5 times in (6) and by 2.8 in (14), so
// that we take them for < and >.
struct Inequality {
  double less, greater;
  bool holds() const { return less < greater; }
};

// ---- latencies: a multiprocessor has room for one block; each warp of a block has one register
// matrix at a time, which it reads from global memory and processes between the block's barriers,
// so that these latencies add up.

// Equation 3: 32 stores to shared memory and 32 loads.
double chen_transpose_clocks(const MicroFigures& figures);
// Equation 4: for each row five shuffles and additions; Ladner and Fischer's scan has a bitwise AND
// with each of them, which the paper counts but leaves out of the equation.
double chen_scan_rows_clocks(RowScan scan, const MicroFigures& figures);
// Equation 5: 31 additions, of all columns at once.
double chen_scan_columns_clocks(const MicroFigures& figures);
// (6): a transposition and the scan of columns against the scan of rows.
Inequality chen_latencies(RowScan scan, const MicroFigures& figures);

// Clocks of both kernels together, of BRLT-ScanRow, ScanRow-BRLT and ScanRowColumn.
double chen_brlt_scan_row_clocks(const SatTypeInfo& type, Size size, const MicroFigures& figures);
double chen_scan_row_brlt_clocks(RowScan scan, const SatTypeInfo& type, Size size,
                                 const MicroFigures& figures);
double chen_scan_row_column_clocks(RowScan scan, const SatTypeInfo& type, Size size,
                                   const MicroFigures& figures);

// ---- throughputs: the seconds that one register matrix takes if the chip does nothing else and
// all of its multiprocessors are busy. Additions are counted as in the paper: those of lanes that
// have something to add.

// Equation 10: 1024 elements are stored to shared memory and loaded.
double chen_transpose_seconds(const SatTypeInfo& type, const MicroFigures& figures);
// Equation 11: 31 additions in each of 32 lanes.
double chen_scan_columns_add_seconds(const SatTypeInfo& type, const MicroFigures& figures);
// Equation 12, for either scan of rows: 160 shuffles. The paper divides this number of a warp's
// instructions by a throughput that is counted per lane; we count 32 lanes in both, without which
// (14) would not hold on its GPUs. A shuffle of 64 bits is two of 32.
double chen_shuffle_seconds(const SatTypeInfo& type, const MicroFigures& figures);
// Equation 13 for Kogge and Stone's scan: 4128 additions; T_LF_add for Ladner and Fischer's: 2560.
double chen_scan_rows_add_seconds(RowScan scan, const SatTypeInfo& type,
                                  const MicroFigures& figures);
// T_LF_and: 5120 operations, one per lane and step. (The paper's product for this number has
// another factor C, which is one too many.)
double chen_ladner_fischer_and_seconds(const MicroFigures& figures);
// The sums on the left of (14) and (15): shuffles, additions and ANDs of a scan of rows.
double chen_scan_rows_seconds(RowScan scan, const SatTypeInfo& type, const MicroFigures& figures);
// (14) and (15): a transposition and the scan of columns against the scan of rows.
Inequality chen_throughputs(RowScan scan, const SatTypeInfo& type, const MicroFigures& figures);

// Equation 7: the warps of a block.
int chen_warps_per_block(const LaunchFigures& launch);
// Equation 8: how many warps of a kernel the chip has room for. The paper takes the minimum of
// warps whose registers fit (its first term) and of warps of whole blocks (the others). Only whole
// blocks become resident, so we round down all three to blocks. Its last term's "maximum available
// block count" we take for the most blocks of this size: a multiprocessor limits blocks and
// threads.
int chen_active_warps(const LaunchFigures& launch, const MicroFigures& figures);
// Equation 9: bytes per second of shared memory for each of these warps.
double chen_shared_bytes_per_s_of_warp(const LaunchFigures& launch, const MicroFigures& figures);

// One of an algorithm's two kernels: the register matrices that each warp processes one after the
// other, and the seconds that each of them takes.
struct ChenKernel {
  int steps;
  double matrix_seconds;
};
using ChenKernels = std::array<ChenKernel, 2>;
ChenKernels chen_brlt_scan_row_kernels(const SatTypeInfo& type, Size size,
                                       const MicroFigures& figures);
ChenKernels chen_scan_row_brlt_kernels(RowScan scan, const SatTypeInfo& type, Size size,
                                       const MicroFigures& figures);
ChenKernels chen_scan_row_column_kernels(RowScan scan, const SatTypeInfo& type, Size size,
                                         const MicroFigures& figures);
// A kernel's blocks run in waves of as many as the chip has room for. In a wave that is not full
// each warp still has no more than its share of the throughputs (equation 9), since blocks are
// spread over the multiprocessors.
double chen_kernel_seconds(const ChenKernel& kernel, const LaunchFigures& launch,
                           const MicroFigures& figures);

// ---- the models of the algorithms: the prediction of the "bytes" model plus the clocks of both
// kernels, or plus the times of all launches.

double latency_us(double clocks, const SatAlgorithm& sat, const SatTypeInfo& type, Size size,
                  int tables, const MicroFigures& figures);
double throughput_us(const ChenKernels& kernels, const SatAlgorithm& sat, const SatTypeInfo& type,
                     Size size, int tables, const MicroFigures& figures,
                     std::span<const LaunchFigures> launches);

// `clocks` and `kernels` are functions of type, size and figures.
template <auto clocks, auto kernels>
constexpr SatModel chen_model{
    "latency",
    [](const SatAlgorithm& sat, const SatTypeInfo& type, Size size, int tables,
       const MicroFigures& figures) {
      return latency_us(clocks(type, size, figures), sat, type, size, tables, figures);
    },
    [](const SatAlgorithm& sat, const SatTypeInfo& type, Size size, int tables,
       const MicroFigures& figures, std::span<const LaunchFigures> launches) {
      return throughput_us(kernels(type, size, figures), sat, type, size, tables, figures,
                           launches);
    }};
template <RowScan scan, auto function>
auto with_scan(const SatTypeInfo& type, Size size, const MicroFigures& figures) {
  return function(scan, type, size, figures);
}

inline constexpr SatModel chen_brlt_scan_row_model =
    chen_model<chen_brlt_scan_row_clocks, chen_brlt_scan_row_kernels>;
template <RowScan scan>
constexpr SatModel chen_scan_row_brlt_model =
    chen_model<with_scan<scan, chen_scan_row_brlt_clocks>,
               with_scan<scan, chen_scan_row_brlt_kernels>>;
template <RowScan scan>
constexpr SatModel chen_scan_row_column_model =
    chen_model<with_scan<scan, chen_scan_row_column_clocks>,
               with_scan<scan, chen_scan_row_column_kernels>>;

// ---- the cost model of A. Kasagi, K. Nakano, Y. Ito: Parallel Algorithms for the Summed Area
// Table on the Asynchronous Hierarchical Memory Machine (HMM), with GPU Implementations, ICPP 2014.

inline constexpr int hmm_width = 32;  // the paper's w on GPUs: banks, and threads of a warp

// How often an algorithm accesses elements in global memory: the paper's C are coalesced accesses,
// its S those with a stride, its B the barriers across all blocks. The paper's n is width * height,
// and its sqrt(n) is the width or the height; terms that the paper leaves in an O() are left out.
struct HmmCost {
  double pixels = 0, table = 0;                // C: elements of the picture, of the table
  double stride_pixels = 0, stride_table = 0;  // S: the same with a stride
  double barriers = 0;                         // B
};
HmmCost hmm_2r2w(Size size);                                 // lemma 2
HmmCost hmm_4r4w(Size size);                                 // lemma 3
HmmCost hmm_2r1w(Size size, int w = hmm_width);              // lemma 4
HmmCost hmm_4r1w(Size size);                                 // lemma 5
HmmCost hmm_1r1w(Size size, int w = hmm_width);              // theorem 6
HmmCost hmm_hybrid(Size size, double r, int w = hmm_width);  // theorem 7: (1 + r)R1W

// The length of anti-diagonal k of a matrix: how many elements (x, y) have x + y = k.
int diagonal_length(Size matrix, int k);

// (1 + r)R1W: how many anti-diagonals of tiles in each corner 2R1W makes, so that these corners are
// a fraction r of the picture; sqrt(r) of the side of a square, as in the paper. An anti-diagonal
// counts if at least half of its tiles belong to that fraction. If r is 1 the corners may share the
// middle one.
int corner_diagonals(Size tiles, double r);

// Section II, figures 1 and 2: the memories of the two machines that the HMM consists of. The
// addresses that a warp asks for at a time take one pipeline stage for each of those that lie in
// the same bank of the Discrete Memory Machine (DMM, shared memory), or for each group of w
// adjacent ones in the Unified Memory Machine (UMM, global memory) that they lie in.
enum class MemoryMachine { discrete, unified };
int pipeline_stages(MemoryMachine machine, std::span<const int> addresses, int w = hmm_width);
// The time units until the requests of all warps, one after the other, are complete (figure 4).
int access_time_units(MemoryMachine machine, std::span<const std::vector<int>> warps, int l,
                      int w = hmm_width);

// Section III: C / w + S + (B + 1)(l - 1), in units of the time to access w adjacent elements; l is
// the latency of global memory. Lemma 5 and the theorems write l for l - 1.
double hmm_time_units(const HmmCost& cost, double l, int w = hmm_width);

// The model's time in microseconds. A time unit is the time that w elements of the picture or of
// the table take at the speed of a copy. A barrier is the end of a kernel, as in the paper's
// section VIII, so that l is the sum of the latencies of a read and of a launch.
double hmm_us(const HmmCost& cost, const SatTypeInfo& type, const MicroFigures& figures);

// The model of an algorithm that computes its tables one after the other. `cost` is one of the
// functions above: of the size, the value of the algorithm's parameter, and w, as far as it has
// these arguments.
template <auto cost>
double hmm_model_us(const SatAlgorithm& sat, const SatTypeInfo& type, Size size, int tables,
                    const MicroFigures& figures) {
  using Cost = decltype(cost);
  if constexpr (std::is_invocable_v<Cost, Size>)
    return tables * hmm_us(cost(size), type, figures);
  else if constexpr (std::is_invocable_v<Cost, Size, int>)
    return tables * hmm_us(cost(size, hmm_width), type, figures);
  else
    return tables * hmm_us(cost(size, sat.value, hmm_width), type, figures);
}
template <auto cost>
constexpr SatModel hmm_model{"hmm", hmm_model_us<cost>};

}  // namespace facesat::gpu
