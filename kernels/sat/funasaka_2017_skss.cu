// Single kernel soft synchronisation (SKSS): every warp takes a row of tiles from left to right.
//
// Idea: a global counter gives rows of 32 x 32 tiles to warps. A warp keeps the row sums at the
//   right edge of its last tile in registers, waits for the bottom row of the tile above, and
//   publishes its own bottom row, so that warps follow each other down the picture like a
//   staircase.
// Shapes: tiles of 32 x 32 in shared memory, one warp each; blocks of 2 warps, which maximised the
//   resident threads of the paper's GPU; as many warps as rows of tiles.
// Reads and writes per element: the pixel once, the table once (1R1W); one word written and read
//   per 32 bits of every 32nd row.
// Launches: 1.
// Workspace: a header, and those words.
// Source: Shunji Funasaka, Koji Nakano, Yasuaki Ito, "Single Kernel Soft Synchronization Technique
//   for Task Arrays on CUDA-enabled GPUs, with Applications", CANDAR 2017.
// Departs from it in: {state, value} words in place of one flag per tile and reads of the table;
//   the sums from the left are added before columns are summed, whereas the paper adds the left
//   column afterwards and subtracts the corner; the pixels of a tile are loaded while the tile
//   before is summed.
#include "kernels/sat/funasaka_2017.cuh"

namespace facesat::gpu {
namespace {

constexpr TaskSchedule schedule = TaskSchedule::warps;

// The engine's part of the workspace does not depend on the type.
using AnyTiles = SatTiles<Pass<float, float, false>, HandOver::words>;
std::size_t engine_bytes(Size size) {
  return task_workspace_bytes<AnyTiles>(divide_up(size.height, AnyTiles::side),
                                        divide_up(size.width, AnyTiles::side), schedule);
}

std::size_t workspace_bytes(SatType type, Size size) {
  return engine_bytes(size) + AnyTiles::table_bytes(size) * (info_of(type).table_bytes / 4);
}

void enqueue(const SatTask& task, void* workspace, StreamHandle stream) {
  void* const words = static_cast<std::byte*>(workspace) + engine_bytes(task.size);
  for_each_table(task, [&]<class Pass>(const Pass& pass) {
    enqueue_tasks(SatTiles<Pass, HandOver::words>::of(pass, words), schedule, workspace, stream);
  });
}

}  // namespace

const SatAlgorithm funasaka_2017_skss{
    .id = "funasaka_2017_skss",
    .title = "Single kernel soft synchronisation: one row of tiles per warp (1R1W-SKSS)",
    .source =
        "Funasaka, Nakano, Ito: Single Kernel Soft Synchronization Technique for Task Arrays "
        "on CUDA-enabled GPUs, with Applications, CANDAR 2017",
    .year = 2017,
    .launches = 1,
    .reads = 1,
    .writes = 1,
    .workspace_bytes = workspace_bytes,
    .enqueue = enqueue,
};

}  // namespace facesat::gpu
