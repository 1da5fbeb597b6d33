// ScanRow-BRLT: Kogge and Stone's warp scans of the rows, then transpose in registers (BRLT,
// block-register-local-transpose); all of this twice.
//
// Idea: each warp of a block loads 32 x 32 elements of the same 32 rows into registers, scans each
//   of its rows by shuffles, and transposes the sums through shared memory. The result is written
//   transposed, and a second run of the same kernel scans the columns. Kogge and Stone's scan adds
//   the values 1, 2, 4, 8 and 16 lanes before.
// Shapes: blocks of 1024 threads (512 for double) on 32 rows, as many columns per step as threads,
//   with a carry along the rows.
// Reads and writes per element: the pixel read; the intermediate written and read; the table
//   written (2R2W).
// Launches: 2.
// Workspace: the intermediate, transposed.
// Source: Peng Chen, Mohamed Wahib, Shinichiro Takizawa, Ryousei Takano, Satoshi Matsuoka:
//   Efficient Algorithms for the Summed Area Tables Primitive on GPUs, IEEE CLUSTER 2018, section
//   IV-A.
// Departs from it in: all threads reach the barriers of BRLT, not only the warps whose turn is
//   still to come; the partial sums of the warps are scanned after BRLT, by warp 0, one row per
//   lane.
#include "kernels/sat/chen_2018.cuh"
#include "kernels/sat/chen_2018_model.hpp"

namespace facesat::gpu {

const SatAlgorithm chen_2018_scanrow_brlt_ks{
    .id = "chen_2018_scanrow_brlt_ks",
    .title = "ScanRow-BRLT: Kogge-Stone scans, transpose in registers (2R2W)",
    .paper = chen_2018::paper,
    .year = 2018,
    .launches = 2,
    .reads = 2,
    .writes = 2,
    .model = chen_scan_row_brlt_model<RowScan::kogge_stone>,
    .workspace_bytes = transposed_bytes,
    .enqueue =
        chen_2018::enqueue_scan_transpose_twice<chen_2018::ScanRowBrlt<chen_2018::KoggeStone>>,
};

}  // namespace facesat::gpu
