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
#pragma once

#include "kernels/device/platform.hpp"

namespace facesat::gpu {

struct ByteTiles {
  std::uint32_t of[4];
};

}  // namespace facesat::gpu

#if defined(FACESAT_SIMT)
#include "kernels/device/matrix_host.hpp"
#elif defined(__CUDACC__)
#include "kernels/device/matrix_gpu.hpp"
#endif
