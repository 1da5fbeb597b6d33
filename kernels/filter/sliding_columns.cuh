// Sums of columns that slide down a picture (facesat_box.cu): a lane's elements of a row, and the
// sums of its columns over the rows of a window.
#pragma once

#include "kernels/filter/pass.cuh"

namespace facesat::gpu {

// Columns of a lane.
template <class In>
inline constexpr int columns_of = sizeof(In) == 1 ? 8 : 4;

// A lane's elements of a row.
template <class In>
struct alignas(16) Elements {
  static constexpr int n = columns_of<In>;
  In v[n];
};

// The sums of a lane's columns.
template <class In, class Sum>
class ColumnSums {
 public:
  // A row enters and, if `leaving` is not null, another one leaves.
  __device__ __forceinline__ void slide(const Elements<In>& entering, const Elements<In>* leaving) {
    FACESAT_UNROLL
    for (int i = 0; i < Elements<In>::n; ++i)
      sums_[i] +=
          static_cast<Sum>(entering.v[i]) - (leaving ? static_cast<Sum>(leaving->v[i]) : Sum{});
  }
  __device__ __forceinline__ Sum operator[](int i) const { return sums_[i]; }

 private:
  Sum sums_[Elements<In>::n]{};
};

// Of bytes: two sums of 16 bits in a word. Halves never overflow, so that words can be added whole.
template <>
struct alignas(8) Elements<std::uint8_t> {
  static constexpr int n = columns_of<std::uint8_t>;
  std::uint32_t words[n / 4];

  __device__ __forceinline__ std::uint32_t even(int i) const { return words[i] & 0x00FF00FF; }
  __device__ __forceinline__ std::uint32_t odd(int i) const {
    return __byte_perm(words[i], 0, 0x4341);
  }
};
template <class Sum>
class ColumnSums<std::uint8_t, Sum> {
 public:
  __device__ __forceinline__ void slide(const Elements<std::uint8_t>& entering,
                                        const Elements<std::uint8_t>* leaving) {
    FACESAT_UNROLL
    for (int i = 0; i < 2; ++i) {
      even_[i] += entering.even(i) - (leaving ? leaving->even(i) : 0);
      odd_[i] += entering.odd(i) - (leaving ? leaving->odd(i) : 0);
    }
  }
  __device__ __forceinline__ Sum operator[](int i) const {
    const std::uint32_t pair = i % 2 ? odd_[i / 4] : even_[i / 4];
    return i % 4 < 2 ? pair & 0xFFFF : pair >> 16;
  }
  // The sum of column i, with that of the next row 16 bits higher.
  __device__ __forceinline__ std::uint32_t with_next_row(const ColumnSums& next, int i) const {
    const unsigned halves = i % 4 < 2 ? 0x5410 : 0x7632;
    return i % 2 ? __byte_perm(odd_[i / 4], next.odd_[i / 4], halves)
                 : __byte_perm(even_[i / 4], next.even_[i / 4], halves);
  }

 private:
  std::uint32_t even_[2]{}, odd_[2]{};
};

}  // namespace facesat::gpu
