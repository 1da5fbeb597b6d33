// Scans with a thread for each column, then with a thread for each row.
//
// Idea: threads run down the columns and leave prefix sums; after a barrier, threads run along the
//   rows of the result. The second half is strided: the lanes of a warp access 32 rows at a time.
// Shapes: blocks of 64 threads, one line per thread.
// Reads and writes per element: the pixel read; the table written, read and written again (2R2W).
// Launches: 2.
// Workspace: none.
// Source: A. Kasagi, K. Nakano, Y. Ito, "Parallel Algorithms for the Summed Area Table on the
//   Asynchronous Hierarchical Memory Machine, with GPU implementations", ICPP 2014, section IV.
// Departs from it in: loads are issued eight at a time.
#include "kernels/sat/kasagi_2014.cuh"
#include "kernels/sat/kasagi_2014_model.hpp"

namespace facesat::gpu {
namespace {

using namespace kasagi;

// Prefix sums of every row of the table, in place.
template <class Pass>
__global__ void scan_rows_kernel(Pass pass) {
  using Out = typename Pass::Out;
  const int y = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (y >= pass.size.height) return;
  Out* const row = pass.row(y);
  Out sum{};
  walk(
      0, pass.size.width, [&](int x) { return row[x]; },
      [&](int x, Out value) { row[x] = sum += value; });
}

void enqueue(const SatTask& task, void*, StreamHandle stream) {
  for_each_table(task, [&]<class Pass>(const Pass& pass) {
    FACESAT_LAUNCH(scan_columns_kernel<Pass>, dim3(divide_up(pass.size.width, line_threads)),
                   dim3(line_threads), stream, pass);
    FACESAT_LAUNCH(scan_rows_kernel<Pass>, dim3(divide_up(pass.size.height, line_threads)),
                   dim3(line_threads), stream, pass);
  });
}

HmmCost cost(const SatAlgorithm&, Size size) {
  return hmm_2r2w(size);
}

}  // namespace

const SatAlgorithm kasagi_2014_2r2w{
    .id = "kasagi_2014_2r2w",
    .title = "One thread per column, then one per row (2R2W)",
    .paper = kasagi::paper,
    .year = 2014,
    .launches = 2,
    .reads = 2,
    .writes = 2,
    .model = hmm_model<cost>,
    .workspace_bytes = no_workspace,
    .enqueue = enqueue,
};

}  // namespace facesat::gpu
