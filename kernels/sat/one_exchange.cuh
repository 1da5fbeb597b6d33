// What the tiles of facesat_one_exchange publish, how a warp computes it, and how a thread reads
// what other tiles have published.
#pragma once

#include "kernels/device/soft_synchronization.cuh"
#include "kernels/sat/tile.cuh"

namespace facesat::gpu {

using Sum = std::uint32_t;

constexpr int rows_per_warp = 8;

// What is summed up of four adjacent columns of a tile: `first` is the sum of all columns up to and
// including the first of the four; the others are the totals of single columns, which have 15 bits.
// The same for rows.
struct alignas(16) Entry {
  Sum first, second_and_fourth, third;  // the fourth in the upper half of the word
  unsigned epoch;                       // of the launch that has published it

  __device__ __forceinline__ void add_within_tile(const Entry& other) {
    first += other.first;
    second_and_fourth += other.second_and_fourth;
    third += other.third;
  }
};

// The sum of any number of entries.
struct EntrySum {
  Sum first{}, second{}, third{}, fourth{};

  __device__ __forceinline__ void add(const Entry& e) {
    first += e.first;
    second += e.second_and_fourth & 0xFFFF;
    third += e.third;
    fourth += e.second_and_fourth >> 16;
  }
  // The prefix sums up to and including each of the four columns.
  __device__ __forceinline__ Four<Sum> prefix() const {
    return {{first, first + second, first + second + third, first + second + third + fourth}};
  }
};

__device__ __forceinline__ Four<Sum> prefix_of(const Entry& e) {
  EntrySum sum;
  sum.add(e);
  return sum.prefix();
}

// Entries, and totals, which are words with the epoch in the upper half.
__device__ __forceinline__ unsigned epoch_of(const Entry& entry) {
  return entry.epoch;
}
__device__ __forceinline__ unsigned epoch_of(Word total) {
  return static_cast<unsigned>(total >> 32);
}
__device__ __forceinline__ void set_empty(Entry& entry, unsigned epoch) {
  entry = {0, 0, 0, epoch};
}
__device__ __forceinline__ void set_empty(Word& total, unsigned epoch) {
  total = static_cast<Word>(epoch) << 32;
}

// Sums of a lane's pixels and of those to their left, of a warp's rows. Sums of 128 bytes have 15
// bits, so that two rows are summed up at once: an even row in the lower half of a word, the next
// one in the upper half.
struct RowSums {
  Sum before[rows_per_warp / 2];     // of the pixels to the left of the lane's
  Sum inclusive[rows_per_warp / 2];  // with the lane's; in the last lane, the totals of the rows

  __device__ __forceinline__ explicit RowSums(Kept<std::uint8_t> (&pixels)[rows_per_warp]) {
    FACESAT_UNROLL
    for (int i = 0; i < rows_per_warp / 2; ++i) {
      const Sum own =
          sum_of_four<Sum, false>(pixels[2 * i]) | sum_of_four<Sum, false>(pixels[2 * i + 1]) << 16;
      inclusive[i] = warp_inclusive_scan(own);
      before[i] = inclusive[i] - own;
    }
  }
  __device__ __forceinline__ Sum before_in_row(int i) const {
    return i % 2 == 0 ? before[i / 2] & 0xFFFF : before[i / 2] >> 16;
  }
};

// The entry of the lane's columns, in the warp's rows.
__device__ __forceinline__ Entry column_entry(Kept<std::uint8_t> (&pixels)[rows_per_warp],
                                              const RowSums& rows) {
  Entry entry{};
  Sum first_and_third = 0;
  FACESAT_UNROLL
  for (int i = 0; i < rows_per_warp; ++i) {
    entry.first += rows.before_in_row(i);
    first_and_third += pixels[i].word & 0x00FF00FF;
    entry.second_and_fourth += pixels[i].word >> 8 & 0x00FF00FF;
  }
  entry.first += first_and_third & 0xFFFF;
  entry.third = first_and_third >> 16;
  return entry;
}

// Up to `count` published values, read at once: elements first, first + stride, ... of an array.
template <class T, int count>
struct Pending {
  std::uint32_t first;
  int stride;
  bool has_any;
  T value[count];

  // Reads the values 0, step, 2 * step, ... before `end`.
  __device__ __forceinline__ void request(const T* array, int first_, int stride_, int step,
                                          int end, unsigned epoch) {
    first = static_cast<std::uint32_t>(first_);
    stride = stride_;
    has_any = end > 0;
    FACESAT_UNROLL
    for (int n = 0; n < count; ++n) {
      set_empty(value[n], epoch);
      if (n * step < end) value[n] = read(array, n);
    }
  }
  // Reads those again that had not been published. Returns whether there were none.
  __device__ __forceinline__ bool retry(const T* array, unsigned epoch) {
    bool is_complete = true;
    make_opaque(first);  // addresses are computed again, not kept in registers
    FACESAT_UNROLL
    for (int n = 0; n < count; ++n)
      if (epoch_of(value[n]) != epoch) {
        value[n] = read(array, n);
        is_complete = false;
      }
    return is_complete;
  }
  // The number of the first element that has not been published.
  __device__ __forceinline__ unsigned missing(unsigned epoch) const {
    unsigned least = 0xFFFFFFFF;
    FACESAT_UNROLL
    for (int n = 0; n < count; ++n)
      if (epoch_of(value[n]) != epoch)
        least = min(least, first + static_cast<unsigned>(n * stride));
    return least;
  }

 private:
  __device__ __forceinline__ T read(const T* array, int n) const {
    return load_relaxed(array + (first + static_cast<std::uint32_t>(n * stride)));
  }
};

}  // namespace facesat::gpu
