// Computes every tile from its three neighbours, one anti-diagonal after the other.
//
// Idea: once the tiles above and to the left are in the table, differences of adjacent elements in
//   the row above and in the column to the left are the sums that a tile lacks; added to its top
//   row and its leftmost column, they turn its SAT into the table.
// Shapes: tiles of 32 x 32 in diagonal arrangement (each row rotated by its index), blocks of 32 x
//   4 threads, of which one warp makes the SAT.
// Reads and writes per element: the pixel and the table once (1R1W); 65 more reads per tile.
// Launches: one for each anti-diagonal of tiles.
// Workspace: none.
// Source: A. Kasagi, K. Nakano, Y. Ito, "Parallel Algorithms for the Summed Area Table on the
//   Asynchronous Hierarchical Memory Machine, with GPU implementations", ICPP 2014, section VI.
#include "kernels/sat/kasagi_2014.cuh"
#include "kernels/sat/kasagi_2014_model.hpp"

namespace facesat::gpu {
namespace {

void enqueue(const SatTask& task, void*, StreamHandle stream) {
  for_each_table(task, [&]<class Pass>(const Pass& pass) {
    kasagi::enqueue_1r1w(pass, kasagi::all_tiles(pass.size), stream);
  });
}

HmmCost cost(const SatAlgorithm&, Size size) {
  return hmm_1r1w(size);
}

}  // namespace

const SatAlgorithm kasagi_2014_1r1w{
    .id = "kasagi_2014_1r1w",
    .title = "Anti-diagonals of tiles (1R1W)",
    .paper = kasagi::paper,
    .year = 2014,
    .launches = 0,  // one per anti-diagonal
    .reads = 1,
    .writes = 1,
    .model = hmm_model<cost>,
    .workspace_bytes = no_workspace,
    .enqueue = enqueue,
};

}  // namespace facesat::gpu
