// ScanRowColumn: Kogge and Stone's warp scans of the rows, then serial scans of the columns.
//
// Idea: a warp loads 1024 elements of a row into registers and scans them by shuffles, 32 at a
//   time, each time with the sum so far added to the first; then blocks scan strips of 32 columns
//   in place, where each thread adds up 32 elements alone. Kogge and Stone's scan adds the values
//   1, 2, 4, 8 and 16 lanes before.
// Shapes: blocks of 1024 threads (512 for double): as many rows as warps, with a carry along the
//   rows; strips of 32 columns, as many rows per step as threads, with a carry down the columns.
// Reads and writes per element: the pixel read; the table written, read and written again (2R2W).
// Launches: 2.
// Workspace: none.
// Source: Peng Chen, Mohamed Wahib, Shinichiro Takizawa, Ryousei Takano, Satoshi Matsuoka:
//   Efficient Algorithms for the Summed Area Tables Primitive on GPUs, IEEE CLUSTER 2018, section
//   IV-C.
// Departs from it in: blocks of 32 x 16 threads for columns of double, whose register matrices
//   would not fit otherwise; the partial sums of the warps are scanned by warp 0, one column per
//   lane.
#include "kernels/sat/chen_2018.cuh"
#include "kernels/sat/chen_2018_model.hpp"

namespace facesat::gpu {

const SatAlgorithm chen_2018_scanrow_column_ks{
    .id = "chen_2018_scanrow_column_ks",
    .title = "ScanRowColumn: Kogge-Stone scans of rows, serial scans of columns (2R2W)",
    .paper = chen_2018::paper,
    .year = 2018,
    .launches = 2,
    .reads = 2,
    .writes = 2,
    .model = chen_scan_row_column_model<RowScan::kogge_stone>,
    .workspace_bytes = no_workspace,
    .enqueue = chen_2018::enqueue_scan_row_column<chen_2018::KoggeStone>,
};

}  // namespace facesat::gpu
