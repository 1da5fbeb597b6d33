// Reduce and scan in one launch of a fixed number of blocks.
//
// Idea: a fixed number of blocks, each with a contiguous chunk of the array; a block combines its
//   chunk, publishes the total, collects the totals of all chunks before it, and scans its chunk.
//   Work is distributed by hand, so that blocks may wait for each other within a launch.
// Shapes: tiles of four elements per thread.
// Reads and writes per element: 2 / 1.
// Launches: 1.
// Workspace: a header, and 8 bytes per block for every 4 bytes of an element.
// Source: J. Breitbart, "Static GPU Threads and an Improved Scan Algorithm", Euro-Par 2010
//   workshops, as its abstract and Funasaka et al. 2017 describe it.
// Departs from it in: no global barrier; a block waits for the blocks before it, which it knows to
//   be running by the order of their tickets.
#include "kernels/device/soft_synchronization.cuh"
#include "kernels/scan/cascade.cuh"
#include "kernels/scan/register_tile.cuh"

namespace facesat::gpu {
namespace {

using Tile = cascade::ShuffleTile<KoggeStoneLanes, 4>;

template <class Pass>
__global__ void static_kernel(Pass pass, int chunk, Header* header, Word* words) {
  using T = typename Pass::T;
  __shared__ SharedArray<T, 1> shared;
  const auto [block, epoch] = draw_ticket(header);
  const T total = cascade::reduce_chunk<4>(pass, block, chunk);
  // Nothing else is ever published of a chunk.
  if (threadIdx.x == 0) publish(words + block * parts<T>, 1, epoch, inclusive_total, total);
  __syncthreads();  // the next reduction overwrites the memory of this one
  const T before = cascade::reduce_in_turns<0, T>(
      pass.op, block, [&](int other) { return wait_for<T>(words + other * parts<T>, 1, epoch); });
  if (threadIdx.x == 0) shared[0] = before;
  __syncthreads();
  cascade::scan_chunk<Tile>(pass, block, chunk, static_cast<T>(shared[0]));
  if (threadIdx.x == 0) finish(header, static_cast<int>(gridDim.x), epoch);
}

constexpr std::array thread_choices{128, 256, 512};
constexpr std::array block_choices{8, 128, 256, 512, 1024, 2048};
constexpr std::array parameters{ScanParameter{"threads", "threads per block", 256, thread_choices},
                                ScanParameter{"blocks", "blocks", 1024, block_choices}};

void enqueue(const ScanTask& task, void* workspace, StreamHandle stream) {
  const int threads = task.settings[0], blocks = task.settings[1];
  with_pass(task, [&]<class Pass>(const Pass& pass) {
    FACESAT_LAUNCH_SHARED(static_kernel<Pass>, dim3(static_cast<unsigned>(blocks)),
                          dim3(static_cast<unsigned>(threads)),
                          static_cast<int>(sizeof(typename Pass::T)) * threads, stream, pass,
                          cascade::chunk_of(pass.n, blocks, Tile::elements(threads)),
                          static_cast<Header*>(workspace), words_of(workspace));
  });
}

}  // namespace

const ScanAlgorithm breitbart_2010{
    .id = "breitbart_2010",
    .title = "Scan+: a fixed number of blocks reduce, wait and scan in one launch",
    .source = "Breitbart: Static GPU Threads and an Improved Scan Algorithm, Euro-Par 2010",
    .year = 2010,
    .parameters = parameters,
    .cost = [](const ScanTask&) { return ScanCost{.launches = 1, .reads = 2, .writes = 1}; },
    .workspace_bytes =
        [](const ScanTask& task) {
          return header_bytes + static_cast<std::size_t>(task.settings[1]) *
                                    (info_of(task.type).bytes / 4) * sizeof(Word);
        },
    .enqueue = enqueue,
};

}  // namespace facesat::gpu
