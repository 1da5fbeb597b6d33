// How long SAT algorithms should take: by the models of two papers, and by the bytes that they move
// where no paper has a model. Pure arithmetic on measured figures of the GPU.
#pragma once

#include <optional>
#include <string_view>

#include "core/image.hpp"
#include "kernels/bench/micro.hpp"
#include "kernels/gpu_info.hpp"
#include "kernels/sat/types.hpp"

namespace facesat::app {

// ---- A. Kasagi, K. Nakano, Y. Ito: Parallel Algorithms for the Summed Area Table on the
// ---- Asynchronous Hierarchical Memory Machine (HMM), with GPU Implementations, ICPP 2014

inline constexpr int hmm_width = 32;  // the paper's w on GPUs: banks, and threads of a warp

// An algorithm's accesses to elements in global memory, coalesced or with a stride, and its
// barriers across all blocks. The paper's n is width * height and its sqrt(n) the side at hand;
// terms that the paper leaves in an O() are left out.
struct HmmCost {
  double pixels = 0, table = 0;                // coalesced; of the picture, of the table
  double stride_pixels = 0, stride_table = 0;  // with a stride
  double barriers = 0;
};
HmmCost hmm_2r2w(Size size);                                 // lemma 2
HmmCost hmm_4r4w(Size size);                                 // lemma 3
HmmCost hmm_2r1w(Size size, int w = hmm_width);              // lemma 4
HmmCost hmm_4r1w(Size size);                                 // lemma 5
HmmCost hmm_1r1w(Size size, int w = hmm_width);              // theorem 6
HmmCost hmm_hybrid(Size size, double r, int w = hmm_width);  // theorem 7: (1 + r)R1W

// Section III: C / w + S + (B + 1)(l - 1), in units of the time in which w neighbours are accessed;
// l is the latency of global memory. Lemma 5 and the theorems write l for l - 1.
double hmm_time_units(const HmmCost& cost, double l, int w = hmm_width);

// The same in microseconds. A time unit is what w elements of their type take at the speed of a
// copy. A barrier is the end of a kernel, as in the paper's section VIII, so that l is the latency
// of a read and of a launch together.
double hmm_us(const HmmCost& cost, const gpu::SatTypeInfo& type, const gpu::MicroFigures& figures);

// ---- P. Chen et al.: Efficient Algorithms for the Summed Area Tables Primitive on GPUs, CLUSTER
// ---- 2018: clocks that a warp takes for a register matrix of 32 x 32 elements, section V-B

enum class RowScan { kogge_stone, ladner_fischer };

// Equation 3: 32 stores to shared memory and 32 loads.
double chen_transpose_clocks(const gpu::MicroFigures& figures);
// Equation 4: for each row five shuffles and additions; Ladner and Fischer's scan has a boolean and
// with each of them, which the paper counts but leaves out of the equation.
double chen_scan_rows_clocks(RowScan scan, const gpu::MicroFigures& figures);
// Equation 5: 31 additions, of all columns at once.
double chen_scan_columns_clocks(const gpu::MicroFigures& figures);

// Clocks of both kernels of "chen_2018_...", none for other ids. The paper's model ends with the
// register matrix; from there on, this one goes by its section IV: a multiprocessor has room for
// one block; all warps of a block have one register matrix at a time, which they read from global
// memory and handle after each other's barriers, so that these latencies add up.
std::optional<double> chen_clocks(std::string_view id, const gpu::SatTypeInfo& type, Size size,
                                  const gpu::MicroFigures& figures);

// ---- any algorithm ----

struct SatModel {
  std::string_view name;
  double us = 0;
};

// "hmm" for the algorithms of Kasagi et al.; "latency" for those of Chen et al.: their clocks, and
// what "bytes" says; "bytes" for all others: the bytes that are read and written at the speed of a
// copy, and the launches. With `squares`, both tables are made.
SatModel sat_model(const gpu::SatInfo& sat, const gpu::SatTypeInfo& type, Size size, bool squares,
                   const gpu::MicroFigures& figures);

}  // namespace facesat::app
