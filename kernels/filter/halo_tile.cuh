// Tiles in shared memory for two-dimensional convolution. A block of B x B threads computes B x B
// pixels, which need (B + 2 radius.x) x (B + 2 radius.y) pixels: the tile, which is the block's own
// pixels with a halo. The lecture's algorithms differ in which thread loads what.
#pragma once

#include "kernels/filter/pass.cuh"

namespace facesat::gpu {

inline constexpr int halo_block = 16;  // threads, in each direction, of most of these algorithms
inline constexpr std::size_t most_shared_bytes = 99 << 10;  // of a block, on every GPU from 8.6 on

template <class Pass>
class HaloTile {
 public:
  // Of the block whose first pixel is at `first`.
  __device__ HaloTile(const Pass& pass, Place first)
      : pass_(pass),
        left_(first.x - pass.radius.x),
        top_(first.y - pass.radius.y),
        width_(halo_block + 2 * pass.radius.x) {}

  // Loads element (i, j) of the tile.
  __device__ __forceinline__ void load(int i, int j) {
    pixels_[j * width_ + i] = pass_.at(left_ + i, top_ + j);
  }
  // Loads the part of the tile of which (i, j) is the first element.
  __device__ __forceinline__ void load_part(int i, int j, int width, int height) {
    for (int v = 0; v < height; ++v)
      for (int u = 0; u < width; ++u) load(i + u, j + v);
  }
  // The same, by `threads` threads together, of which this one has the given number.
  __device__ __forceinline__ void load_part_together(int i, int j, int width, int height,
                                                     int thread, int threads) {
    for (int k = thread; k < width * height; k += threads) load(i + k % width, j + k / width);
  }

 private:
  const Pass& pass_;
  DynamicShared<typename Pass::In> pixels_;
  int left_, top_, width_;
};

// The convolution of the pixel whose window begins at element (i, j) of a tile of `width` columns.
template <class Pass>
__device__ __forceinline__ typename Pass::Sum convolved_in_tile(const Pass& pass, int i, int j,
                                                                int width) {
  const DynamicShared<typename Pass::In> pixels;
  typename Pass::Sum sum{};
  int next = 0;
  for (int v = 2 * pass.radius.y; v >= 0; --v)
    for (int u = 2 * pass.radius.x; u >= 0; --u)
      sum += pass.weights[next++] * value_of<Pass>(pixels[(j + v) * width + i + u]);
  return sum;
}

inline std::size_t halo_tile_bytes(const FilterTask& task) {
  return static_cast<std::size_t>(halo_block + 2 * task.mask.radius.x) *
         static_cast<std::size_t>(halo_block + 2 * task.mask.radius.y) *
         info_of(task.type).input_bytes;
}

inline std::string why_no_halo_tile(const FilterTask& task) {
  return halo_tile_bytes(task) > most_shared_bytes ? "the tile exceeds shared memory" : "";
}

// Elements of the tile per pixel of the block.
inline double reads_of_halo_tile(const FilterTask& task) {
  return static_cast<double>(halo_tile_bytes(task) / info_of(task.type).input_bytes) /
         (halo_block * halo_block);
}

// Loader::load(tile, x, y, radius) loads the tile, called by each thread (x, y) of the block.
template <class Loader, class Pass>
__global__ void __launch_bounds__(halo_block* halo_block) halo_kernel(Pass pass) {
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  const Place first{static_cast<int>(blockIdx.x) * halo_block,
                    static_cast<int>(blockIdx.y) * halo_block};
  HaloTile<Pass> tile(pass, first);
  tile.load(pass.radius.x + x, pass.radius.y + y);  // the block's own pixels
  Loader::load(tile, x, y, pass.radius);
  __syncthreads();
  if (pass.has(first.x + x, first.y + y))
    pass.store(first.x + x, first.y + y,
               convolved_in_tile(pass, x, y, halo_block + 2 * pass.radius.x));
}

template <class Loader>
void enqueue_halo(const FilterTask& task, void*, StreamHandle stream) {
  with_pass(task, [&]<class Pass>(const Pass& pass) {
    FACESAT_LAUNCH_SHARED((halo_kernel<Loader, Pass>), grid_of(pass.size, halo_block, halo_block),
                          dim3(halo_block, halo_block), halo_tile_bytes(task), stream, pass);
  });
}

}  // namespace facesat::gpu
