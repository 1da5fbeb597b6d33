// The order in which the blocks of a launch take the tiles of a picture.
#pragma once

#include "kernels/device/soft_synchronization.cuh"
#include "kernels/sat/tile.cuh"

namespace facesat::gpu {

struct Tiles {
  int across, down;
  __host__ __device__ int count() const { return across * down; }
};

// The anti-diagonal of a ticket, among the growing ones: the n-th has n + 1 tiles.
__device__ __forceinline__ int growing_diagonal(int ticket) {
  int n = static_cast<int>((sqrtf(8.0f * static_cast<float>(ticket) + 1) - 1) / 2);
  if (n * (n + 1) / 2 > ticket) --n;  // where the root was rounded
  if ((n + 1) * (n + 2) / 2 <= ticket) ++n;
  return n;
}

// Column and row of the tile with that ticket. Tickets run along anti-diagonals, from left to
// right. Anti-diagonals first grow, then keep the length of the shorter side, then shrink.
__device__ __forceinline__ int2 tile_of(Tiles t, int ticket) {
  const int shorter = min(t.across, t.down), growing = shorter * (shorter + 1) / 2;
  const int from_end = t.count() - 1 - ticket;
  if (ticket < growing) {
    const int n = growing_diagonal(ticket), column = ticket - n * (n + 1) / 2;
    return {column, n - column};
  }
  if (from_end < growing) {
    const int n = growing_diagonal(from_end), column = from_end - n * (n + 1) / 2;
    return {t.across - 1 - column, t.down - 1 - (n - column)};
  }
  const int past = ticket - growing, diagonal = shorter + past / shorter;
  const int column = max(0, diagonal - (t.down - 1)) + past % shorter;
  return {column, diagonal - column};
}

// The tile and epoch that thread 0 has drawn, for all threads of a block.
struct Drawn {
  int2 tile;
  unsigned epoch;
};
__device__ __forceinline__ Drawn draw_tile(Header* header, Tiles tiles) {
  __shared__ SharedArray<int, 3> drawn;
  if (threadIdx.x == 0) {
    drawn[2] = static_cast<int>(header->epoch);
    const int2 tile = tile_of(tiles, static_cast<int>(atomicAdd(&header->ticket, 1u)));
    drawn[0] = tile.x;
    drawn[1] = tile.y;
  }
  __syncthreads();
  return {{drawn[0], drawn[1]}, static_cast<unsigned>(static_cast<int>(drawn[2]))};
}

}  // namespace facesat::gpu
