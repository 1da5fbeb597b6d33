// A tile of a single-pass scan, in registers, the look-back over the tiles before it, and the
// kernel that does both with a tile per block. Each warp has adjacent rows of 32 vectors of 16
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

// The combination of all elements of tile `number` of `elements` elements, in every lane.
template <class Pass>
__device__ typename Pass::T total_of_tile(const Pass& pass, int number, int elements) {
  typename Pass::T total = pass.op.identity();
  for (int i = number * elements; i < (number + 1) * elements; i += 32) {
    const auto scanned =
        KoggeStoneLanes::scan(pass.op, pass.load(i + static_cast<int>(lane_of_thread())));
    total = pass.op(total, __shfl_sync(full_warp, scanned, 31));
  }
  return total;
}

// The combination of the tiles before `number`, in every lane of the calling warp. Where operands
// may not change places, the lanes are combined after each 32 tiles, otherwise once, at the end.
// `total_of` says what to do about a total that stays missing: GiveUp, or a function of the tile's
// number, which all lanes call. If the array is scanned in place, its elements may be overwritten
// already, and the look-back waits.
template <class Pass, class TotalOf>
__device__ __forceinline__ typename Pass::T look_back(const Pass& pass, const Word* words,
                                                      int number, unsigned epoch,
                                                      TotalOf total_of) {
  using T = typename Pass::T;
  const auto& op = pass.op;
  T sum = op.identity();
  bool is_done = false;
  int reads = 0;
  for (int other = number - 1 - static_cast<int>(lane_of_thread()); !is_done; other -= 32) {
    T seen = op.identity();
    State state = other < 0 ? inclusive_total : none;  // before the first tile there is nothing
    unsigned needed = 0;  // the lanes up to the first one that has everything before it, too
    for (;;) {
      if (state == none) state = look(words + other * parts<T>, 1, epoch, seen);
      const unsigned ends = __ballot_sync(full_warp, state == inclusive_total);
      is_done = ends != 0;
      needed = is_done ? ends ^ (ends - 1) : full_warp;
      const unsigned missing = __ballot_sync(full_warp, state == none) & needed;
      if (missing == 0) break;
      pause();
      if (++reads < patience || pass.input == pass.output) continue;
      if constexpr (std::is_same_v<TotalOf, GiveUp>) {
        total_of.gave_up[0] = 1;
        return sum;
      } else {
        const int lane = __ffs(static_cast<int>(missing)) - 1;  // the nearest tile
        const T total = total_of(__shfl_sync(full_warp, other, lane));
        if (static_cast<int>(lane_of_thread()) == lane) {
          seen = total;
          state = own_total;
        }
      }
    }
    const bool is_needed = needed >> lane_of_thread() & 1;
    if constexpr (Pass::Op::is_commutative) {
      if (is_needed) sum = op(sum, seen);
    } else {
      T these = is_needed ? seen : op.identity();  // lane 0 has the last of them
      for (unsigned d = 1; d < 32; d *= 2) these = op(__shfl_xor_sync(full_warp, these, d), these);
      sum = op(__shfl_sync(full_warp, these, 0), sum);
    }
  }
  if constexpr (Pass::Op::is_commutative)
    for (unsigned d = 16; d > 0; d /= 2) sum = op(sum, __shfl_xor_sync(full_warp, sum, d));
  return sum;
}

// After a look-back that gave up: a warp stores the scan of the tile. Slow, but needs no other
// block.
template <class Pass>
FACESAT_NOINLINE __device__ void scan_tile_alone(const Pass& pass, Word* words, int number,
                                                 int elements, unsigned epoch) {
  const int lane = static_cast<int>(lane_of_thread());
  typename Pass::T before = look_back(
      pass, words, number, epoch, [&](int other) { return total_of_tile(pass, other, elements); });
  for (int i = number * elements + lane; i - lane < (number + 1) * elements; i += 32) {
    const auto own = pass.template load_several<1>(i);
    const auto scanned = KoggeStoneLanes::scan(pass.op, own.v[0]);
    const auto previous = __shfl_up_sync(full_warp, scanned, 1);
    pass.template store_several<1>(i, lane > 0 ? pass.op(before, previous) : before, own);
    before = pass.op(before, __shfl_sync(full_warp, scanned, 31));
  }
  if (lane == 0)
    publish(words + number * parts<typename Pass::T>, 1, epoch, inclusive_total, before);
}

// One pass, a tile per block, with look-back by the block's first warp.
constexpr int most_tile_threads = 512;
template <class Tile, class Pass>
__global__ void __launch_bounds__(most_tile_threads)
    tile_kernel(FACESAT_PARAMETER(Pass) pass, Header* header, Word* words) {
  using T = typename Pass::T;
  __shared__ SharedArray<T, 32> of_warps;  // their totals, and then what is before each of them
  __shared__ SharedArray<int, 1> gave_up;
  const int threads = static_cast<int>(blockDim.x), warps = threads / 32;
  const int lane = static_cast<int>(lane_of_thread()), warp = static_cast<int>(threadIdx.x) / 32;
  const auto [number, epoch] = draw_ticket(header);
  const int begin = number * Tile::elements(threads);
  Tile tile;
  tile.load(pass, begin, threads);
  const T own = tile.scan(pass);
  if (lane == 0) of_warps[warp] = own;
  if (threadIdx.x == 0) gave_up[0] = 0;
  __syncthreads();
  if (warp == 0) {
    const T scanned = KoggeStoneLanes::scan(
        pass.op, lane < warps ? static_cast<T>(of_warps[lane]) : pass.op.identity());
    const T total = __shfl_sync(full_warp, scanned, 31);
    Word* const word = words + number * parts<T>;
    if (lane == 0 && number > 0) publish(word, 1, epoch, own_total, total);
    const T before = look_back(pass, words, number, epoch, GiveUp{gave_up});
    if (lane == 0 && gave_up[0] == 0)
      publish(word, 1, epoch, inclusive_total, pass.op(before, total));
    const T previous = __shfl_up_sync(full_warp, scanned, 1);
    of_warps[lane] = lane > 0 ? pass.op(before, previous) : before;
  }
  __syncthreads();
  if (gave_up[0] == 0)
    tile.store(pass, begin, of_warps[warp]);
  else if (warp == 0)
    scan_tile_alone(pass, words, number, Tile::elements(threads), epoch);
  if (threadIdx.x == 0) finish(header, static_cast<int>(gridDim.x), epoch);
}

// The elements of a tile, by the number of threads and that of each thread's vectors.
inline int tile_elements(const ScanTask& task, int threads, int vectors) {
  return threads * vectors * static_cast<int>(16 / info_of(task.type).bytes);
}

// Calls launch(std::integral_constant<int, rows>()) for the one of these numbers that is wanted.
template <int... rows, class Launch>
void with_rows(int wanted, Launch launch) {
  const auto with = [&]<int count>(std::integral_constant<int, count> constant) {
    if (count == wanted) launch(constant);
  };
  (with(std::integral_constant<int, rows>()), ...);
}

// The workspace of a single pass: a header, and one published value per tile, as words.
inline std::size_t published_bytes(const ScanTask& task, int tile) {
  return header_bytes + static_cast<std::size_t>(divide_up(task.n, tile)) *
                            (info_of(task.type).bytes / 4) * sizeof(Word);
}
inline Word* words_of(void* workspace) {
  return reinterpret_cast<Word*>(static_cast<std::byte*>(workspace) + header_bytes);
}

// The elements of a tile, if the parameters are the threads of a block and the vectors of each.
inline int tile_of_settings(const ScanTask& task) {
  return tile_elements(task, task.settings[0], task.settings[1]);
}

// Enqueues tile_kernel() with these parameters and tiles of the type TileOf<Pass, rows>.
template <template <class, int> class TileOf>
void enqueue_tiles(const ScanTask& task, void* workspace, StreamHandle stream) {
  with_rows<1, 2, 4, 7>(task.settings[1], [&]<int rows>(std::integral_constant<int, rows>) {
    with_pass(task, [&]<class Pass>(const Pass& pass) {
      FACESAT_LAUNCH((tile_kernel<TileOf<Pass, rows>, Pass>),
                     dim3(divide_up(task.n, tile_of_settings(task))), dim3(task.settings[0]),
                     stream, pass, static_cast<Header*>(workspace), words_of(workspace));
    });
  });
}

}  // namespace facesat::gpu
