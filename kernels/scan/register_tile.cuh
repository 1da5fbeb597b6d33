// A tile of a single-pass scan, in registers. Each warp has adjacent rows of 32 vectors of 16
// bytes, one vector per lane, so that accesses are coalesced without a detour through shared
// memory.
#pragma once

#include "kernels/device/soft_synchronization.cuh"
#include "kernels/scan/pass.cuh"

namespace facesat::gpu {

template <class T>
constexpr int vector_elements = 16 / sizeof(T);

template <class Pass, int rows>
struct RegisterTile {
  using T = typename Pass::T;
  static constexpr int width = vector_elements<T>;
  static constexpr int row_elements = 32 * width, warp_elements = rows * row_elements;
  static constexpr int elements(int threads) { return threads * rows * width; }

  // After scan(): the inclusive scans of each row's vectors, and for each row the combination of
  // the warp's elements before the vector.
  Several<T, width> values[rows];
  T before[rows];

  // The first element of this lane's vector of row `row`.
  __device__ static int place(int begin, int row) {
    const int warp = static_cast<int>(threadIdx.x) / 32;
    return begin + warp * warp_elements + row * row_elements +
           width * static_cast<int>(lane_of_thread());
  }

  // Loads the tile of `threads` threads that begins at `begin`. Past the end of the array, elements
  // are the identity.
  __device__ __forceinline__ void load(const Pass& pass, int begin, int threads) {
    if (begin + elements(threads) <= pass.n) {
      FACESAT_UNROLL
      for (int row = 0; row < rows; ++row)
        values[row] = *reinterpret_cast<const Several<T, width>*>(pass.input + place(begin, row));
      return;
    }
    FACESAT_UNROLL
    for (int row = 0; row < rows; ++row)
      values[row] = pass.template load_several<width>(place(begin, row));
  }

  // Returns the combination of the warp's elements, in every lane.
  __device__ __forceinline__ T scan(const Pass& pass) {
    T scanned[rows];
    FACESAT_UNROLL
    for (int row = 0; row < rows; ++row) {
      FACESAT_UNROLL
      for (int k = 1; k < width; ++k)
        values[row].v[k] = pass.op(values[row].v[k - 1], values[row].v[k]);
      scanned[row] = KoggeStoneLanes::scan(pass.op, values[row].v[width - 1]);
    }
    T sum = pass.op.identity();
    FACESAT_UNROLL
    for (int row = 0; row < rows; ++row) {
      const T previous = __shfl_up_sync(full_warp, scanned[row], 1);
      before[row] = lane_of_thread() > 0 ? pass.op(sum, previous) : sum;
      sum = pass.op(sum, __shfl_sync(full_warp, scanned[row], 31));
    }
    return sum;
  }

  // `prefix`: the combination of all elements before the warp's.
  __device__ __forceinline__ void store(const Pass& pass, int begin, T prefix) const {
    FACESAT_UNROLL
    for (int row = 0; row < rows; ++row)
      pass.template store_several<width>(place(begin, row), pass.op(prefix, before[row]),
                                         values[row]);
  }
};

// The workspace of a single pass: a header, and one published value per tile, as words.
inline std::size_t published_bytes(const ScanTask& task, int tile) {
  return header_bytes + static_cast<std::size_t>(divide_up(task.n, tile)) *
                            (info_of(task.type).bytes / 4) * sizeof(Word);
}
inline Word* words_of(void* workspace) {
  return reinterpret_cast<Word*>(static_cast<std::byte*>(workspace) + header_bytes);
}

}  // namespace facesat::gpu
