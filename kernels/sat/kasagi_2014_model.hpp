// The cost model of A. Kasagi, K. Nakano, Y. Ito: Parallel Algorithms for the Summed Area Table on
// the Asynchronous Hierarchical Memory Machine (HMM), with GPU Implementations, ICPP 2014.
#pragma once

#include "kernels/sat/model.hpp"

namespace facesat::gpu {

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

// Section III: C / w + S + (B + 1)(l - 1), in units of the time to access w adjacent elements; l is
// the latency of global memory. Lemma 5 and the theorems write l for l - 1.
double hmm_time_units(const HmmCost& cost, double l, int w = hmm_width);

// The model's time in microseconds. A time unit is the time that w elements of the picture or of
// the table take at the speed of a copy. A barrier is the end of a kernel, as in the paper's
// section VIII, so that l is the sum of the latencies of a read and of a launch.
double hmm_us(const HmmCost& cost, const SatTypeInfo& type, const MicroFigures& figures);

// The model of an algorithm that computes its tables one after the other.
template <HmmCost (*cost)(const SatAlgorithm&, Size)>
constexpr SatModel hmm_model{"hmm", [](const SatAlgorithm& sat, const SatTypeInfo& type, Size size,
                                       int tables, const MicroFigures& figures) {
                               return tables * hmm_us(cost(sat, size), type, figures);
                             }};

}  // namespace facesat::gpu
