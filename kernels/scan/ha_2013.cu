// Han and Carlson's pattern in a cascade that reads the first and the last chunk only once.
//
// Idea: one Brent-Kung step combines pairs of elements, Kogge-Stone steps scan the odd elements,
//   and one last step gives the even ones. Of the chunks, the first one is scanned at once, because
//   nothing is before it, and that gives its total; the last one's total is not needed.
// Shapes: tiles of two elements per thread; the odd elements are in shared memory.
// Reads and writes per element: 2 - 2 / blocks, 1.
// Launches: 3.
// Workspace: one element per block.
// Source: S.-W. Ha and T.-D. Han, "A Scalable Work-Efficient and Depth-Optimal Parallel Scan for
//   the GPGPU Environment", IEEE TPDS 24(12), 2013, as Dieguez et al. 2014 describe it.
// Departs from it in: the totals are scanned by a kernel, where in the paper each block shares its
//   total with the next one.
#include "kernels/scan/cascade.cuh"

namespace facesat::gpu {
namespace {

struct Tile {
  static constexpr int elements(int threads) { return 2 * threads; }
  static constexpr int shared_elements(int threads) { return threads; }

  template <class Pass>
  __device__ static typename Pass::T scan(const Pass& pass, int begin, typename Pass::T before) {
    using T = typename Pass::T;
    DynamicShared<T> odd;  // odd[t]: element 2t + 1
    const int threads = static_cast<int>(blockDim.x), thread = static_cast<int>(threadIdx.x);
    const int i = begin + 2 * thread;
    auto own = pass.template load_several<2>(i);
    own.v[1] = pass.op(own.v[0], own.v[1]);
    odd[thread] = own.v[1];
    __syncthreads();
    for (int d = 1; d < threads; d *= 2) {
      const T sum = thread >= d ? pass.op(odd[thread - d], odd[thread]) : T(odd[thread]);
      __syncthreads();
      odd[thread] = sum;
      __syncthreads();
    }
    const T before_thread = thread > 0 ? pass.op(before, odd[thread - 1]) : before;
    pass.template store_several<2>(i, before_thread, own);
    const T end = pass.op(before, odd[threads - 1]);
    __syncthreads();  // the next tile overwrites the odd elements
    return end;
  }
};

// The totals of all chunks but the last; the first chunk is scanned, too.
template <class Pass>
__global__ void first_kernel(Pass pass, int chunk, typename Pass::T* totals) {
  const int block = static_cast<int>(blockIdx.x);
  const typename Pass::T total = block == 0
                                     ? cascade::scan_chunk<Tile>(pass, 0, chunk, pass.op.identity())
                                     : cascade::reduce_chunk<2>(pass, block, chunk);
  if (threadIdx.x == 0) totals[block] = total;
}
// All chunks but the first.
template <class Pass>
__global__ void last_kernel(Pass pass, int chunk, const typename Pass::T* totals) {
  const int block = static_cast<int>(blockIdx.x) + 1;
  cascade::scan_chunk<Tile>(pass, block, chunk, totals[block]);
}

ScanCost cost(const ScanTask& task) {
  ScanCost cost = cascade::cost(task, cascade::launch_of(task.settings).blocks);
  cost.reads -= 2.0 / cascade::launch_of(task.settings).blocks;
  return cost;
}

void enqueue(const ScanTask& task, void* workspace, StreamHandle stream) {
  const cascade::Launch launch = cascade::launch_of(task.settings);
  const dim3 grid(static_cast<unsigned>(launch.blocks - 1)),
      block(static_cast<unsigned>(launch.threads));
  with_pass(task, [&]<class Pass>(const Pass& pass) {
    using T = typename Pass::T;
    auto* const totals = static_cast<T*>(workspace);
    const int chunk = cascade::chunk_of(pass.n, launch.blocks, Tile::elements(launch.threads));
    const int shared = static_cast<int>(sizeof(T)) * Tile::shared_elements(launch.threads);
    FACESAT_LAUNCH_SHARED(first_kernel<Pass>, grid, block, shared, stream, pass, chunk, totals);
    cascade::enqueue_scan_totals<Tile>(pass, launch, totals, stream);
    FACESAT_LAUNCH_SHARED(last_kernel<Pass>, grid, block, shared, stream, pass, chunk, totals);
  });
}

}  // namespace

const ScanAlgorithm ha_2013{
    .id = "ha_2013",
    .title = "Han-Carlson in a cascade that reads the first and last chunk once",
    .source =
        "Ha, Han: A Scalable Work-Efficient and Depth-Optimal Parallel Scan for the GPGPU "
        "Environment, IEEE TPDS 24(12), 2013",
    .year = 2013,
    .parameters = cascade::parameters,
    .cost = cost,
    .workspace_bytes = cascade::workspace_bytes,
    .enqueue = enqueue,
};

}  // namespace facesat::gpu
