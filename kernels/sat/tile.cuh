// Primitives that SAT (summed area table) algorithms share: loads, stores and sums of four adjacent
// elements of a row, the order in which blocks take the tiles of a picture, and a look-back for the
// warps of a tile.
#pragma once

#include <type_traits>

#include "kernels/device/soft_synchronization.cuh"
#include "kernels/device/warp.cuh"

namespace facesat::gpu {

// Four adjacent elements of a row, moved by accesses of up to 16 bytes.
template <class T>
struct alignas(sizeof(T) < 4 ? 4 * sizeof(T) : 16) Four {
  T v[4];
};

// Loads from row[x] on, x a multiple of 4; zeros past `width`, unless all four are known to be
// inside.
template <bool all_inside = false, class T>
__device__ __forceinline__ Four<T> load_four(const T* row, int x, int width) {
  if constexpr (!all_inside)
    if (x + 4 > width) {
      Four<T> four;
      FACESAT_UNROLL
      for (int i = 0; i < 4; ++i) four.v[i] = x + i < width ? row[x + i] : T{};
      return four;
    }
  return *reinterpret_cast<const Four<T>*>(row + x);
}
template <bool all_inside = false, class T>
__device__ __forceinline__ void store_four(T* row, int x, int width, const Four<T>& four) {
  if constexpr (!all_inside)
    if (x + 4 > width) {
      FACESAT_UNROLL
      for (int i = 0; i < 4; ++i)
        if (x + i < width) row[x + i] = four.v[i];
      return;
    }
  *reinterpret_cast<Four<T>*>(row + x) = four;
}

// Stores four elements per lane, by a whole warp whose lanes have adjacent fours that all lie
// inside. `streaming`: the table is too large for any cache (see store_streaming). Four 64-bit
// values take two accesses of 16 bytes; pairs of lanes first exchange halves, so that each access
// writes whole sectors of 32 bytes.
template <bool streaming, class T>
__device__ __forceinline__ void store_fours(T* row, int x, const Four<T>& four) {
  if constexpr (sizeof four == 32) {
    struct alignas(16) Half {
      T v[2];
    };
    const bool is_odd = lane_of_thread() % 2 == 1;
    Half first, second;
    FACESAT_UNROLL
    for (int k = 0; k < 2; ++k) {
      const T given = __shfl_xor_sync(full_warp, is_odd ? four.v[k] : four.v[k + 2], 1);
      first.v[k] = is_odd ? given : four.v[k];
      second.v[k] = is_odd ? four.v[k + 2] : given;
    }
    Half* const to = reinterpret_cast<Half*>(row + x - (is_odd ? 2 : 0));
    to[0] = first;
    to[2] = second;
  } else if constexpr (streaming && sizeof four == 16) {
    store_streaming(reinterpret_cast<Four<T>*>(row + x), four);
  } else {
    store_four<true>(row, x, 0, four);
  }
}

// Calls work.operator()<is_inside>(): many loads are in flight at once only if no branch separates
// them. `is_inside`: the block reaches no edge, so all its threads pass the same value.
template <class Work>
__device__ __forceinline__ void specialise(bool is_inside, Work work) {
  if (is_inside)
    work.template operator()<true>();
  else
    work.template operator()<false>();
}

// Four adjacent elements in registers: bytes are packed into one register until they are used.
template <class T>
struct Kept {
  Four<T> four;
  Kept() = default;
  __device__ __forceinline__ explicit Kept(const Four<T>& f) : four(f) {}
  __device__ __forceinline__ Four<T> get() { return four; }
};
template <>
struct Kept<std::uint8_t> {
  std::uint32_t word;
  Kept() = default;
  __device__ __forceinline__ explicit Kept(const Four<std::uint8_t>& f)
      : word(f.v[0] | f.v[1] << 8 | f.v[2] << 16 | static_cast<std::uint32_t>(f.v[3]) << 24) {}
  __device__ __forceinline__ Four<std::uint8_t> get() {
    make_opaque(word);
    Four<std::uint8_t> four;
    FACESAT_UNROLL
    for (int i = 0; i < 4; ++i) four.v[i] = static_cast<std::uint8_t>(word >> 8 * i);
    return four;
  }
};

// Loads a lane's four columns, from x on, of n rows. `row` is the first of them, and `rows_left`
// rows from it on are in the picture; past the picture's edges the result is zero. First, all lanes
// load without branches in between, where lanes out of range re-read valid elements. Then those
// lanes set zeros, and lanes that the right edge cuts load again.
template <bool all_inside, int n, class T>
__device__ __forceinline__ void load_rows(const T* row, std::ptrdiff_t pitch, int x, int width,
                                          int rows_left, Kept<T> (&pixels)[n]) {
  if constexpr (all_inside) {
    FACESAT_UNROLL
    for (int i = 0; i < n; ++i, row += pitch) pixels[i] = Kept<T>(load_four<true>(row, x, width));
  } else {
    const bool has_four = x + 4 <= width;
    if (width >= 4 && rows_left > 0) {
      FACESAT_UNROLL
      for (int i = 0; i < n; ++i)
        pixels[i] =
            Kept<T>(load_four<true>(row + min(i, rows_left - 1) * pitch, has_four ? x : 0, width));
    }
    FACESAT_UNROLL
    for (int i = 0; i < n; ++i)
      if (!has_four || i >= rows_left) pixels[i] = Kept<T>(Four<T>{});
    if (!has_four && x < width) {
      FACESAT_UNROLL
      for (int i = 0; i < n; ++i)
        if (i < rows_left) pixels[i] = Kept<T>(load_four(row + i * pitch, x, width));
    }
  }
}

// The sum of four pixels, or of their squares.
template <class Out, bool of_squares, class In>
__device__ __forceinline__ Out sum_of_four(Kept<In>& pixels) {
  if constexpr (sizeof(In) == 1 && std::is_integral_v<Out>) {
    return __dp4a(pixels.word, of_squares ? pixels.word : 0x01010101u, 0u);
  } else {
    const Four<In> p = pixels.get();
    Out sum{};
    FACESAT_UNROLL
    for (int k = 0; k < 4; ++k) {
      const Out v = static_cast<Out>(p.v[k]);
      sum += of_squares ? v * v : v;
    }
    return sum;
  }
}

// Adds to each sums.v[k] the sum of the first k + 1 of four pixels, or of their squares.
template <bool of_squares, class Out, class In>
__device__ __forceinline__ void add_running_sums(Four<Out>& sums, Kept<In>& pixels) {
  if constexpr (sizeof(In) == 1 && std::is_integral_v<Out>) {
    FACESAT_UNROLL
    for (int k = 0; k < 4; ++k) {
      const std::uint32_t bytes = 0xFFFFFFFFu >> 8 * (3 - k);
      sums.v[k] =
          __dp4a(pixels.word, of_squares ? pixels.word & bytes : 0x01010101u & bytes, sums.v[k]);
    }
  } else {
    const Four<In> p = pixels.get();
    Out sum{};
    FACESAT_UNROLL
    for (int k = 0; k < 4; ++k) {
      const Out v = static_cast<Out>(p.v[k]);
      sum += of_squares ? v * v : v;
      sums.v[k] += sum;
    }
  }
}

// The running sums of four pixels' values, as a pass sums them up.
template <class Pass>
__device__ __forceinline__ Four<typename Pass::Out> running_sums(
    const Four<typename Pass::In>& pixels) {
  Four<typename Pass::Out> sums;
  FACESAT_UNROLL
  for (int i = 0; i < 4; ++i) {
    sums.v[i] = Pass::value(pixels.v[i]);
    if (i > 0) sums.v[i] += sums.v[i - 1];
  }
  return sums;
}

// ---- the order of tiles

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

// ---- look-back

// Replaces the values i, i + stride, ... of `count` warps by their exclusive scan. The scan begins
// with what look_back(total of the values) returns: the sum of everything before this tile.
template <int count, class Array, class LookBack>
__device__ __forceinline__ void look_back_from(Array& values, int stride, int i,
                                               LookBack look_back) {
  using Out = decltype(look_back({}));
  Out of_warp[count], total{};
  FACESAT_UNROLL
  for (int w = 0; w < count; ++w) {
    of_warp[w] = values[w * stride + i];
    total += of_warp[w];
  }
  Out before = look_back(total);
  FACESAT_UNROLL
  for (int w = 0; w < count; ++w) {
    values[w * stride + i] = before;
    before += of_warp[w];
  }
}

}  // namespace facesat::gpu
