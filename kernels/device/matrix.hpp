// Products of small matrices of bytes, by the tensor cores of a GPU. All lanes of a warp call these
// functions together.
//
// A matrix lies in shared memory as tiles: 8 rows of 16 bytes, each on a 16-byte boundary.
//
//   ByteTiles load_tiles(const DynamicShared<std::uint32_t>& shared, unsigned address);
//     Loads four tiles (ldmatrix). Lane l passes the address of row l % 8 of tile l / 8; it gets
//     bytes 4 * (l % 4) to 4 * (l % 4) + 3 of row l / 4 of every tile.
//
//   void multiply_add(std::int32_t (&sums)[4], const std::uint32_t (&a)[4],
//                     const std::uint32_t (&b)[2]);
//     sums += A * B, for A of 16 rows by 32 unsigned bytes and B of 32 by 8 columns of signed bytes
//     (mma m16n8k32). `a` is A as load_tiles() gives it for the tiles top left, bottom left, top
//     right, bottom right. `b` is B's columns as load_tiles() gives it, with a column as a row of
//     two tiles: bytes 0 to 15, bytes 16 to 31. Lane l has the sums of rows l / 4 (elements 0 and
//     1) and l / 4 + 8 (elements 2 and 3), in columns 2 * (l % 4) and 2 * (l % 4) + 1.
//
//   template <int n>
//   void multiply_by_warpgroup(const DynamicShared<std::uint32_t>& shared,
//                              std::int32_t (&sums)[n][4], const ByteMatrix& a,
//                              const ByteMatrix& b, int steps);
//     As multiply_by_warps() below, by wgmma (compute capability 9.0), which all threads of a
//     warpgroup (four warps) call together. Both matrices must have been published: each thread
//     calls publish_matrices() after it has written, before a barrier.
//
//   template <int n, int steps>
//   void multiply_rows_by_warpgroup(const DynamicShared<std::uint32_t>& shared,
//                                   std::int32_t (&sums)[n][4],
//                                   const std::uint32_t (&rows)[steps][4], const ByteMatrix& b,
//                                   bool adds);
//     As multiply_rows_by_warps() below, likewise; `b` must have been published.
#pragma once

#include "kernels/device/platform.hpp"

namespace facesat::gpu {

struct ByteTiles {
  std::uint32_t of[4];
};

// A matrix of tiles: how many bytes after a tile the one below it begins, and the one to its right.
struct ByteMatrix {
  unsigned address, below, right;
};

}  // namespace facesat::gpu

#if defined(FACESAT_SIMT)
#include "kernels/device/matrix_host.hpp"
#elif defined(__CUDACC__)
#include "kernels/device/matrix_gpu.hpp"
#endif

#if defined(FACESAT_SIMT) || defined(__CUDACC__)
namespace facesat::gpu {

// sums = A * B, for A of 64 rows of unsigned bytes and B of 8 * n columns of signed bytes, which
// are the rows of `b`. Rows have 32 * steps bytes. Warp w of a warpgroup has, in [j], rows 16 * w
// to 16 * w + 15 and columns 8 * j to 8 * j + 7, in the order of multiply_add(). n must be even.
template <int n>
__device__ __forceinline__ void multiply_by_warps(const DynamicShared<std::uint32_t>& shared,
                                                  std::int32_t (&sums)[n][4], const ByteMatrix& a,
                                                  const ByteMatrix& b, int steps) {
  FACESAT_UNROLL
  for (int k = 0; k < n * 4; ++k) sums[k / 4][k % 4] = 0;
  constexpr unsigned row_bytes = 16;
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
  const unsigned tile = lane / 8, row = lane % 8;
  // Four tiles of A are 16 rows by 32 bytes; of B, two groups of 8 columns by 32 bytes.
  unsigned at_a =
               a.address + (2 * warp + tile % 2) * a.below + tile / 2 * a.right + row * row_bytes,
           at_b = b.address + tile / 2 * b.below + tile % 2 * b.right + row * row_bytes;
  for (int step = 0; step < steps; ++step) {
    const ByteTiles rows = load_tiles(shared, at_a);
    FACESAT_UNROLL
    for (int j = 0; j < n; j += 2) {
      const ByteTiles columns = load_tiles(shared, at_b + static_cast<unsigned>(j) * b.below);
      multiply_add(sums[j], rows.of, {columns.of[0], columns.of[1]});
      multiply_add(sums[j + 1], rows.of, {columns.of[2], columns.of[3]});
    }
    at_a += 2 * a.right;
    at_b += 2 * b.right;
  }
}

// sums = A * B, or sums += A * B if `adds`, for B as above and an A whose rows the lanes hold:
// rows[k] is that of step k as multiply_add() takes it.
template <int n, int steps>
__device__ __forceinline__ void multiply_rows_by_warps(const DynamicShared<std::uint32_t>& shared,
                                                       std::int32_t (&sums)[n][4],
                                                       const std::uint32_t (&rows)[steps][4],
                                                       const ByteMatrix& b, bool adds) {
  FACESAT_UNROLL
  for (int k = 0; k < n * 4; ++k) sums[k / 4][k % 4] = adds ? sums[k / 4][k % 4] : 0;
  constexpr unsigned row_bytes = 16;
  const unsigned tile = threadIdx.x % 32 / 8, row = threadIdx.x % 8;
  unsigned at = b.address + tile / 2 * b.below + tile % 2 * b.right + row * row_bytes;
  FACESAT_UNROLL
  for (int step = 0; step < steps; ++step, at += 2 * b.right) {
    FACESAT_UNROLL
    for (int j = 0; j < n; j += 2) {
      const ByteTiles columns = load_tiles(shared, at + static_cast<unsigned>(j) * b.below);
      multiply_add(sums[j], rows[step], {columns.of[0], columns.of[1]});
      multiply_add(sums[j + 1], rows[step], {columns.of[2], columns.of[3]});
    }
  }
}

}  // namespace facesat::gpu
#endif
