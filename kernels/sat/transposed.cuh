// For algorithms that scan rows, transpose, and scan rows again: the intermediate table, which lies
// transposed in the workspace; the scan of a row by a balanced tree; and a plain transposition.
#pragma once

#include "kernels/sat/pass.cuh"

namespace facesat::gpu {

// The pitch of the transposed table: the picture's height, rounded up to whole warps.
constexpr std::ptrdiff_t transposed_pitch(Size size) {
  return static_cast<std::ptrdiff_t>(divide_up(size.height, 32)) * 32;
}
constexpr std::size_t transposed_bytes(SatType type, Size size) {
  return static_cast<std::size_t>(size.width) * static_cast<std::size_t>(transposed_pitch(size)) *
         info_of(type).table_bytes;
}

// From the picture to the transposed table: pixel (x, y) belongs to row(x)[y].
template <class In, class Out, bool of_squares>
Pass<In, Out, of_squares> to_transposed(Pass<In, Out, of_squares> pass, void* workspace) {
  pass.table = static_cast<Out*>(workspace);
  pass.pitch = transposed_pitch(pass.size);
  return pass;
}

// From one table of sums to another, or to itself.
template <class Out>
Pass<Out, Out, false> between_tables(Size size, const Out* from, std::ptrdiff_t from_pitch, Out* to,
                                     std::ptrdiff_t to_pitch) {
  return {size, from, from_pitch, to, to_pitch};
}

// From the transposed table to the pass's table, transposed back.
template <class In, class Out, bool of_squares>
Pass<Out, Out, false> from_transposed(const Pass<In, Out, of_squares>& pass,
                                      const void* workspace) {
  return between_tables({pass.size.height, pass.size.width}, static_cast<const Out*>(workspace),
                        transposed_pitch(pass.size), pass.table, pass.pitch);
}

// ---- the scan of a row: Blelloch's balanced tree of sums in shared memory

inline constexpr int tree_threads = 256, tree_leaves = 2 * tree_threads;  // leaves: of a step

// Strides are powers of two: one element of padding per 32 avoids bank conflicts.
constexpr int padded_leaf(int i) {
  return i + i / 32;
}
template <class T>
using Tree = SharedArray<T, padded_leaf(tree_leaves)>;

// Replaces each leaf by the sum of `carry` and all leaves before it. Thread 0 keeps the carry.
template <class T>
__device__ __forceinline__ void scan_tree_exclusive(Tree<T>& tree, T& carry, int thread) {
  for (int stride = 1; stride < tree_leaves; stride *= 2) {  // up-sweep
    __syncthreads();
    const int right = 2 * stride * (thread + 1) - 1;
    if (right < tree_leaves) tree[padded_leaf(right)] += tree[padded_leaf(right - stride)];
  }
  if (thread == 0) {  // has just written the root itself, so no barrier is needed
    const T total = tree[padded_leaf(tree_leaves - 1)];
    tree[padded_leaf(tree_leaves - 1)] = carry;
    carry += total;
  }
  for (int stride = tree_leaves / 2; stride > 0; stride /= 2) {  // down-sweep
    __syncthreads();
    const int right = 2 * stride * (thread + 1) - 1;
    if (right < tree_leaves) {
      const T left_sum = tree[padded_leaf(right - stride)], before = tree[padded_leaf(right)];
      tree[padded_leaf(right - stride)] = before;
      tree[padded_leaf(right)] = before + left_sum;
    }
  }
  __syncthreads();
}

// A block of tree_threads threads scans row y of the pass, tree_leaves elements at a time.
template <class Pass>
__device__ __forceinline__ void scan_row_by_tree(const Pass& pass, int y) {
  using Out = typename Pass::Out;
  __shared__ Tree<Out> tree;
  const int thread = static_cast<int>(threadIdx.x);
  Out carry{};
  for (int begin = 0; begin < pass.size.width; begin += tree_leaves) {
    Out own[2];
    FACESAT_UNROLL
    for (int i = 0; i < 2; ++i) {
      const int leaf = thread + i * tree_threads;
      own[i] = pass.value_at(begin + leaf, y);
      tree[padded_leaf(leaf)] = own[i];
    }
    scan_tree_exclusive(tree, carry, thread);
    FACESAT_UNROLL
    for (int i = 0; i < 2; ++i) {
      const int leaf = thread + i * tree_threads;
      if (begin + leaf < pass.size.width)
        pass.row(y)[begin + leaf] = own[i] + tree[padded_leaf(leaf)];
    }
  }
}

// ---- a transposition, through shared memory

// Of a tile; rows of threads of the block that turns it.
inline constexpr int turning_side = 32, turning_rows = 8;

inline dim3 grid_of_turning(Size size) {
  return dim3(divide_up(size.width, turning_side), divide_up(size.height, turning_side));
}

// A block of turning_side x turning_rows threads turns the tile at its place in the grid: row(x)[y]
// of the table becomes the value of pixel (x, y).
template <class Pass>
__device__ __forceinline__ void transpose_tile(const Pass& pass) {
  using Out = typename Pass::Out;
  __shared__ SharedArray<Out, turning_side*(turning_side + 1)> tile;
  const int lane = static_cast<int>(threadIdx.x), first = static_cast<int>(threadIdx.y);
  const int x = static_cast<int>(blockIdx.x) * turning_side;
  const int y = static_cast<int>(blockIdx.y) * turning_side;
  FACESAT_UNROLL
  for (int i = first; i < turning_side; i += turning_rows)
    tile[i * (turning_side + 1) + lane] = pass.value_at(x + lane, y + i);
  __syncthreads();
  FACESAT_UNROLL
  for (int i = first; i < turning_side; i += turning_rows)
    if (pass.has(x + i, y + lane)) pass.row(x + i)[y + lane] = tile[lane * (turning_side + 1) + i];
}

}  // namespace facesat::gpu
