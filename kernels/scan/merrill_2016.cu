// One pass with decoupled look-back, in its textbook form: a tile per block.
//
// Idea: a block publishes the total of its tile as soon as it has it, and then looks back: it adds
//   up the totals of the tiles before until it finds one that has published everything up to its
//   end, too, and publishes the same of its own tile. So no tile waits for the one before it, as it
//   would in a chain, and the array is read and written once.
// Shapes: tiles of vectors of 16 bytes, in registers; the first warp of the block looks back, over
//   32 tiles at a time.
// Reads and writes per element: 1 / 1.
// Launches: 1.
// Workspace: a header, and 8 bytes per tile for every 4 bytes of an element.
// Source: D. Merrill and M. Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back",
//   NVIDIA technical report NVR-2016-002, 2016.
// Departs from it in: an epoch in the state of a word (the paper's flags X, A and P), so that
//   nothing is reset between launches; warps keep rows of vectors, so that elements are not
//   rearranged in shared memory; tiles are drawn from a counter, so that a block waits only for
//   those that run.
#include "kernels/scan/register_tile.cuh"

namespace facesat::gpu {
namespace {

constexpr std::array thread_choices{128, 256, 512};
constexpr std::array vector_choices{1, 2, 4, 7};
constexpr std::array parameters{
    ScanParameter{"threads", "threads per block", 256, thread_choices},
    ScanParameter{"vectors", "vectors of 16 bytes per thread", 4, vector_choices}};

}  // namespace

const ScanAlgorithm merrill_2016{
    .id = "merrill_2016",
    .title = "Decoupled look-back: a single pass, one tile per block",
    .source =
        "Merrill, Garland: Single-pass Parallel Prefix Scan with Decoupled Look-back, NVIDIA "
        "NVR-2016-002, 2016",
    .year = 2016,
    .parameters = parameters,
    .cost = [](const ScanTask&) { return ScanCost{.launches = 1, .reads = 1, .writes = 1}; },
    .workspace_bytes =
        [](const ScanTask& task) { return published_bytes(task, tile_of_settings(task)); },
    .enqueue = enqueue_tiles<RegisterTile>,
};

}  // namespace facesat::gpu
