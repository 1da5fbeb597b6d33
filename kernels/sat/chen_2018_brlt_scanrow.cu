// BRLT-ScanRow: transpose in registers (BRLT, block-register-local-transpose), then a serial scan
// in each thread; all of this twice.
//
// Idea: each warp of a block loads 32 x 32 elements of the same 32 rows into registers and
//   transposes them through shared memory, so that a thread has a row's 32 elements and scans them
//   alone, without communication. The result is written transposed, and a second run of the same
//   kernel scans the columns.
// Shapes: blocks of 1024 threads (512 for double) on 32 rows, as many columns per step as threads,
//   with a carry along the rows.
// Reads and writes per element: the pixel read; the intermediate written and read; the table
//   written (2R2W).
// Launches: 2.
// Workspace: the intermediate, transposed.
// Source: Peng Chen, Mohamed Wahib, Shinichiro Takizawa, Ryousei Takano, Satoshi Matsuoka:
//   Efficient Algorithms for the Summed Area Tables Primitive on GPUs, IEEE CLUSTER 2018, section
//   IV-B.
// Departs from it in: all threads reach the barriers of BRLT, not only the warps whose turn is
//   still to come; the partial sums of the warps are scanned by warp 0, one row per lane.
#include "kernels/sat/chen_2018.cuh"
#include "kernels/sat/chen_2018_model.hpp"

namespace facesat::gpu {

const SatAlgorithm chen_2018_brlt_scanrow{
    .id = "chen_2018_brlt_scanrow",
    .title = "BRLT-ScanRow: transpose in registers, serial scans (2R2W)",
    .paper = chen_2018::paper,
    .year = 2018,
    .launches = 2,
    .reads = 2,
    .writes = 2,
    .model = chen_brlt_scan_row_model,
    .workspace_bytes = transposed_bytes,
    .enqueue = chen_2018::enqueue_scan_transpose_twice<chen_2018::BrltScanRow>,
};

}  // namespace facesat::gpu
