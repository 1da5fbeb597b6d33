// Scan, transpose, scan, transpose, with Blelloch's work-efficient scan in shared memory.
//
// Idea: a block scans a row 512 elements at a time, over a balanced tree of sums: an up-sweep adds
//   from the leaves to the root, a down-sweep passes every node the sum of all elements before it.
//   A transposition through shared memory turns columns into rows, so that the same kernel scans
//   them with coalesced accesses; a second one turns the table back.
// Shapes: blocks of 256 threads along a row, with two elements per thread and a carry; tiles of 32
//   x 32, 32 x 8 threads.
// Reads and writes per element: four of each (4R4W).
// Launches: 4.
// Workspace: the transposed table.
// Source: Berkin Bilgic, Berthold K. P. Horn, Ichiro Masaki: Efficient Integral Image Computation
//   on the GPU, IEEE Intelligent Vehicles Symposium 2010; the scan is Blelloch's (Prefix Sums and
//   Their Applications, 1990).
// Departs from it in: rows of any length, by a carry that replaces the zero at the tree's root; one
//   element of padding per 32.
#include "kernels/sat/transposed.cuh"

namespace facesat::gpu {
namespace {

constexpr int threads = 256, leaves = 2 * threads;  // leaves: elements of a row per step
constexpr int side = 32, tile_rows = 8;  // of a tile; rows of threads of the block that turns it

// Strides are powers of two: one element of padding per 32 avoids bank conflicts.
constexpr int padded(int i) {
  return i + i / 32;
}
template <class T>
using Tree = SharedArray<T, padded(leaves)>;

// Replaces each leaf by the sum of `carry` and all leaves before it. Thread 0 keeps the carry.
template <class T>
__device__ __forceinline__ void scan_exclusive(Tree<T>& tree, T& carry, int thread) {
  for (int stride = 1; stride < leaves; stride *= 2) {  // up-sweep
    __syncthreads();
    const int right = 2 * stride * (thread + 1) - 1;
    if (right < leaves) tree[padded(right)] += tree[padded(right - stride)];
  }
  if (thread == 0) {  // has just written the root itself, so no barrier is needed
    const T total = tree[padded(leaves - 1)];
    tree[padded(leaves - 1)] = carry;
    carry += total;
  }
  for (int stride = leaves / 2; stride > 0; stride /= 2) {  // down-sweep
    __syncthreads();
    const int right = 2 * stride * (thread + 1) - 1;
    if (right < leaves) {
      const T left_sum = tree[padded(right - stride)], before = tree[padded(right)];
      tree[padded(right - stride)] = before;
      tree[padded(right)] = before + left_sum;
    }
  }
  __syncthreads();
}

// A block scans a row.
template <class Pass>
__global__ void __launch_bounds__(threads) scan_rows_kernel(Pass pass) {
  using Out = typename Pass::Out;
  __shared__ Tree<Out> tree;
  const int y = static_cast<int>(blockIdx.x), thread = static_cast<int>(threadIdx.x);
  Out carry{};
  for (int begin = 0; begin < pass.size.width; begin += leaves) {
    Out own[2];
    FACESAT_UNROLL
    for (int i = 0; i < 2; ++i) {
      const int leaf = thread + i * threads;
      own[i] = pass.value_at(begin + leaf, y);
      tree[padded(leaf)] = own[i];
    }
    scan_exclusive(tree, carry, thread);
    FACESAT_UNROLL
    for (int i = 0; i < 2; ++i) {
      const int leaf = thread + i * threads;
      if (begin + leaf < pass.size.width) pass.row(y)[begin + leaf] = own[i] + tree[padded(leaf)];
    }
  }
}

// row(x)[y] of the table becomes pixel (x, y).
template <class Pass>
__global__ void __launch_bounds__(side* tile_rows) transpose_kernel(Pass pass) {
  using Out = typename Pass::Out;
  __shared__ SharedArray<Out, side*(side + 1)> tile;
  const int lane = static_cast<int>(threadIdx.x), first = static_cast<int>(threadIdx.y);
  const int x = static_cast<int>(blockIdx.x) * side, y = static_cast<int>(blockIdx.y) * side;
  FACESAT_UNROLL
  for (int i = first; i < side; i += tile_rows)
    tile[i * (side + 1) + lane] = pass.value_at(x + lane, y + i);
  __syncthreads();
  FACESAT_UNROLL
  for (int i = first; i < side; i += tile_rows)
    if (pass.has(x + i, y + lane)) pass.row(x + i)[y + lane] = tile[lane * (side + 1) + i];
}

template <class Pass>
void scan_rows(const Pass& pass, StreamHandle stream) {
  FACESAT_LAUNCH(scan_rows_kernel<Pass>, dim3(pass.size.height), dim3(threads), stream, pass);
}

template <class Pass>
void transpose(const Pass& pass, StreamHandle stream) {
  FACESAT_LAUNCH(transpose_kernel<Pass>,
                 dim3(divide_up(pass.size.width, side), divide_up(pass.size.height, side)),
                 dim3(side, tile_rows), stream, pass);
}

void enqueue(const SatTask& task, void* workspace, StreamHandle stream) {
  for_each_table(task, [&]<class Pass>(const Pass& pass) {
    using Out = typename Pass::Out;
    const Size size = pass.size, turned{size.height, size.width};
    auto* const columns = static_cast<Out*>(workspace);
    const std::ptrdiff_t pitch = transposed_pitch(size);
    scan_rows(pass, stream);
    transpose(between_tables(size, pass.table, pass.pitch, columns, pitch), stream);
    scan_rows(between_tables(turned, columns, pitch, columns, pitch), stream);
    transpose(between_tables(turned, columns, pitch, pass.table, pass.pitch), stream);
  });
}

}  // namespace

const SatAlgorithm bilgic_2010_scan_transpose{
    .id = "bilgic_2010_scan_transpose",
    .title = "Scan, transpose, scan, transpose, by balanced trees (4R4W)",
    .source =
        "Bilgic, Horn, Masaki: Efficient Integral Image Computation on the GPU, Intelligent "
        "Vehicles "
        "Symposium 2010",
    .year = 2010,
    .launches = 4,
    .reads = 4,
    .writes = 4,
    .workspace_bytes = transposed_bytes,
    .enqueue = enqueue,
};

}  // namespace facesat::gpu
