// Sums of tiles first, then their tables.
//
// Idea: step 1 sums up the columns, the rows and all of each tile; step 2 makes prefix sums of them
//   across tiles; step 3 reads the tiles again, adds what lies above and to the left to their top
//   rows and leftmost columns, and writes their SATs.
// Shapes: tiles of 32 x 32 in diagonal arrangement (each row rotated by its index), blocks of 32 x
//   4 threads, of which one warp makes the SAT; step 2 in blocks of 64, one thread per line.
// Reads and writes per element: the pixel twice, the table once (2R1W); 1/16 of that for C and R.
// Launches: 4.
// Workspace: C, R and S (see kasagi_2014.cuh), 1/16 of a table.
// Source: A. Kasagi, K. Nakano, Y. Ito, "Parallel Algorithms for the Summed Area Table on the
//   Asynchronous Hierarchical Memory Machine, with GPU implementations", ICPP 2014, section V,
//   after Nehab et al. 2011.
// Departs from it in: the SAT of S is made by scans of its columns, together with those of C, and
//   of its rows, one warp per row, instead of recursion (S has at most 1024 x 1024 elements; this
//   takes one launch more than the paper without recursion, one fewer than with it); two warps make
//   the sums of columns and of rows at the same time; prefix sums are exclusive.
#include "kernels/sat/kasagi_2014.cuh"
#include "kernels/sat/kasagi_2014_model.hpp"

namespace facesat::gpu {
namespace {

void enqueue(const SatTask& task, void* workspace, StreamHandle stream) {
  for_each_table(task, [&]<class Pass>(const Pass& pass) {
    kasagi::enqueue_2r1w(pass, kasagi::all_tiles(pass.size), workspace, stream);
  });
}

HmmCost cost(const SatAlgorithm&, Size size) {
  return hmm_2r1w(size);
}

}  // namespace

const SatAlgorithm kasagi_2014_2r1w{
    .id = "kasagi_2014_2r1w",
    .title = "Sums of tiles, then their tables (2R1W)",
    .paper = kasagi::paper,
    .year = 2014,
    .launches = 4,
    .reads = 2,
    .writes = 1,
    .model = hmm_model<cost>,
    .workspace_bytes = kasagi::sums_bytes,
    .enqueue = enqueue,
};

}  // namespace facesat::gpu
