// Columns twice, with a transpose after each.
//
// Idea: the rows of a matrix are the columns of its transpose, so that both directions are scanned
//   by coalesced accesses; tiles are transposed through shared memory, where neither rows nor
//   columns have bank conflicts.
// Shapes: blocks of 64 threads, for 64 columns or for a tile of 32 x 32.
// Reads and writes per element: four of each (4R4W).
// Launches: 4.
// Workspace: the transposed table.
// Source: A. Kasagi, K. Nakano, Y. Ito, "Parallel Algorithms for the Summed Area Table on the
//   Asynchronous Hierarchical Memory Machine, with GPU implementations", ICPP 2014, section IV.
// Departs from it in: pictures need not be square, so they are transposed out of place; loads of
//   the scans are issued eight at a time.
#include "kernels/sat/kasagi_2014.cuh"
#include "kernels/sat/kasagi_2014_model.hpp"

namespace facesat::gpu {
namespace {

using namespace kasagi;

constexpr int transpose_warps = line_threads / side;

// The transposed table, to be scanned in place.
template <class T>
using Transposed = Pass<T, T, false>;

// Writes the transpose of `from`, whose size is `size`, to `to`.
template <class T>
__global__ void transpose_kernel(const T* from, std::ptrdiff_t from_pitch, Size size, T* to,
                                 std::ptrdiff_t to_pitch) {
  __shared__ DiagonalTile<T> tile;
  const int x0 = static_cast<int>(blockIdx.x) * side, y0 = static_cast<int>(blockIdx.y) * side;
  const int lane = static_cast<int>(threadIdx.x), warp = static_cast<int>(threadIdx.y);
  tile.template fill<transpose_warps>([&](int row, int column) {
    const int x = x0 + column, y = y0 + row;
    return x < size.width && y < size.height ? from[y * from_pitch + x] : T{};
  });
  __syncthreads();
  FACESAT_UNROLL
  for (int column = warp; column < side; column += transpose_warps) {
    const int x = x0 + column, y = y0 + lane;
    if (x < size.width && y < size.height) to[x * to_pitch + y] = tile.at(lane, column);
  }
}

// Rows of the transposed table start on 256-byte boundaries.
std::ptrdiff_t transposed_pitch(Size size) {
  return divide_up(size.height, 64) * 64;
}

std::size_t workspace_bytes(SatType type, Size size) {
  return static_cast<std::size_t>(size.width) * static_cast<std::size_t>(transposed_pitch(size)) *
         info_of(type).table_bytes;
}

template <class Pass>
void enqueue_column_scan(const Pass& pass, StreamHandle stream) {
  FACESAT_LAUNCH(scan_columns_kernel<Pass>, dim3(divide_up(pass.size.width, line_threads)),
                 dim3(line_threads), stream, pass);
}

template <class T>
void enqueue_transpose(const T* from, std::ptrdiff_t from_pitch, Size size, T* to,
                       std::ptrdiff_t to_pitch, StreamHandle stream) {
  FACESAT_LAUNCH(transpose_kernel<T>,
                 dim3(divide_up(size.width, side), divide_up(size.height, side)),
                 dim3(side, transpose_warps), stream, from, from_pitch, size, to, to_pitch);
}

void enqueue(const SatTask& task, void* workspace, StreamHandle stream) {
  for_each_table(task, [&]<class Pass>(const Pass& pass) {
    using Out = typename Pass::Out;
    auto* const transposed = static_cast<Out*>(workspace);
    const std::ptrdiff_t pitch = transposed_pitch(pass.size);
    const Size turned{pass.size.height, pass.size.width};
    enqueue_column_scan(pass, stream);
    enqueue_transpose<Out>(pass.table, pass.pitch, pass.size, transposed, pitch, stream);
    enqueue_column_scan(Transposed<Out>{turned, transposed, pitch, transposed, pitch}, stream);
    enqueue_transpose<Out>(transposed, pitch, turned, pass.table, pass.pitch, stream);
  });
}

HmmCost cost(const SatAlgorithm&, Size size) {
  return hmm_4r4w(size);
}

}  // namespace

const SatAlgorithm kasagi_2014_4r4w{
    .id = "kasagi_2014_4r4w",
    .title = "Columns and transpose, twice (4R4W)",
    .paper = kasagi::paper,
    .year = 2014,
    .launches = 4,
    .reads = 4,
    .writes = 4,
    .model = hmm_model<cost>,
    .workspace_bytes = workspace_bytes,
    .enqueue = enqueue,
};

}  // namespace facesat::gpu
