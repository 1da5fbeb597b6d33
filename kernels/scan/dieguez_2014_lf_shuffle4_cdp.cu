// LF-shuffle4-CDP: the kernels of LF-shuffle4, launched by a kernel (CUDA dynamic parallelism).
//
// Idea: the host launches one kernel of one thread, which launches rd, p and p2. They run one after
//   the other once it has ended.
// Shapes: as LF-shuffle4, whose standard variant this is: the input is read through the cache of
//   read-only data unless it is the output.
// Reads and writes per element: 2 / 1.
// Launches: 4, one of them by the host.
// Workspace: one element per block.
// Source: Dieguez et al. 2014, section IV; there it did not improve execution times. The paper
//   describes neither the launches, here tail launches of CUDA 12, nor which algorithm had them.
#include "kernels/scan/dieguez_2014.cuh"

namespace facesat::gpu {
namespace {

using Tile = cascade::ShuffleTile<LadnerFischerLanes, 4>;

constexpr std::array parameters{dieguez_2014::threads_parameter, dieguez_2014::blocks_parameter};

// `totals_pass` and `totals_chunk` are those of p, the others those of rd and p2.
template <class Pass>
__global__ void launching_kernel(Pass pass, Pass totals_pass, cascade::Launch launch, int chunk,
                                 int totals_chunk) {
  using T = typename Pass::T;
  T* const totals = totals_pass.output;
  const dim3 blocks(static_cast<unsigned>(launch.blocks)),
      threads(static_cast<unsigned>(launch.threads));
  const std::size_t bytes = sizeof(T) * static_cast<unsigned>(launch.threads);
  const std::size_t tile_bytes =
      sizeof(T) * static_cast<unsigned>(Tile::shared_elements(launch.threads));
  FACESAT_LAUNCH_FROM_DEVICE((cascade::reduce_kernel<4, cascade::Share::adjacent, 0, Pass>), blocks,
                             threads, bytes, pass, chunk, totals);
  FACESAT_LAUNCH_FROM_DEVICE((cascade::scan_kernel<Tile, Pass>), dim3(1), threads, tile_bytes,
                             totals_pass, totals_chunk, nullptr);
  FACESAT_LAUNCH_FROM_DEVICE((cascade::scan_kernel<Tile, Pass>), blocks, threads, tile_bytes, pass,
                             chunk, totals);
}

ScanCost cost(const ScanTask& task) {
  ScanCost cost = cascade::cost(task, cascade::launch_of(task.settings).blocks);
  cost.launches = 4;
  return cost;
}

void enqueue(const ScanTask& task, void* workspace, StreamHandle stream) {
  const cascade::Launch launch = cascade::launch_of(task.settings);
  with_pass(task, [&]<class Pass>(Pass pass) {
    pass.is_read_only = task.input != task.output;
    const Pass totals_pass =
        over(pass, static_cast<typename Pass::T*>(workspace), launch.blocks, false);
    const int tile = Tile::elements(launch.threads);
    FACESAT_LAUNCH((launching_kernel<Pass>), dim3(1), dim3(1), stream, pass, totals_pass, launch,
                   cascade::chunk_of(pass.n, launch.blocks, tile),
                   cascade::chunk_of(launch.blocks, 1, tile));
  });
}

}  // namespace

const ScanAlgorithm dieguez_2014_lf_shuffle4_cdp{
    .id = "dieguez_2014_lf_shuffle4_cdp",
    .title = "LF-shuffle4-CDP: LF-shuffle4, launched by a kernel",
    .source = dieguez_2014::paper,
    .year = 2014,
    .parameters = parameters,
    .cost = cost,
    .workspace_bytes = cascade::workspace_bytes,
    .enqueue = enqueue,
};

}  // namespace facesat::gpu
