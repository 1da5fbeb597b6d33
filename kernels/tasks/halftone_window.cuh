// Error diffusion by a warp: 32 rows at a time, a lane for each, in windows of 32 columns. Each
// lane lags `lag` columns behind the one above it, whose errors it gets by a shuffle: at least 2,
// because a pixel needs the error above on the right. With 3, a shuffle has a step more to arrive,
// so that the chain of steps is that of the arithmetic alone.
#pragma once

#include "kernels/device/warp.cuh"
#include "kernels/tasks/error_diffusion.hpp"

namespace facesat::gpu {

// 32 adjacent pixels of a row, within three aligned vectors of 16.
struct PixelWindow {
  uint4 vectors[3];
};

// Where a lane is: its row, which may lie below the picture, and its first column of the window,
// which may lie outside, too.
struct LanePlace {
  int y, first;

  __device__ bool has_row(const HalftoneTask& task) const { return y < task.size.height; }
  __device__ int vector() const { return first >> 4; }  // of the first pixel; also if negative
};

// Loads what of the window is in the picture, in vectors; others are zero.
__device__ __forceinline__ PixelWindow load_window(const HalftoneTask& task, LanePlace place) {
  PixelWindow window;
  const auto* const row =
      reinterpret_cast<const uint4*>(task.picture + place.y * task.picture_pitch);
  const unsigned vectors = place.has_row(task) ? divide_up(task.size.width, 16) : 0;
  FACESAT_UNROLL
  for (int k = 0; k < 3; ++k) {
    const int vector = place.vector() + k;
    window.vectors[k] = static_cast<unsigned>(vector) < vectors ? row[vector] : uint4{};
  }
  return window;
}

// The words that contain the window: a register array must not be indexed by a variable.
struct PixelWords {
  std::uint32_t words[9];
};
__device__ __forceinline__ PixelWords words_of(const PixelWindow& window, int first) {
  std::uint32_t all[12];
  FACESAT_UNROLL
  for (int k = 0; k < 3; ++k) {
    const uint4 vector = window.vectors[k];
    all[4 * k] = vector.x, all[4 * k + 1] = vector.y;
    all[4 * k + 2] = vector.z, all[4 * k + 3] = vector.w;
  }
  FACESAT_UNROLL
  for (int k = 0; k < 11; ++k) all[k] = first & 4 ? all[k + 1] : all[k];
  PixelWords pixels;
  FACESAT_UNROLL
  for (int k = 0; k < 9; ++k) pixels.words[k] = first & 8 ? all[k + 2] : all[k];
  return pixels;
}

// Stores 32 pixels, bit k of `white` for column first + k, in aligned vectors. The last pixels of
// the window, which do not fill a vector, are stored with the next one: `before` are the bits of
// the previous window.
__device__ __forceinline__ void store_window(const HalftoneTask& task, LanePlace place,
                                             unsigned before, unsigned white) {
  auto* const row = reinterpret_cast<uint4*>(task.halftone + place.y * task.halftone_pitch);
  const int words = place.has_row(task) ? divide_up(task.size.width, 4) : 0;
  const unsigned bits = __funnelshift_l(before, white, place.first & 15);
  FACESAT_UNROLL
  for (int half = 0; half < 2; ++half) {
    unsigned bytes[4];
    FACESAT_UNROLL
    for (int k = 0; k < 4; ++k)  // a bit to each byte, then to all bits of the byte
      bytes[k] = ((bits >> (16 * half + 4 * k) & 15) * 0x00204081u & 0x01010101u) * 255;
    const int vector = place.vector() + half;
    if (vector < 0) continue;
    if (4 * vector + 4 <= words)
      row[vector] = make_uint4(bytes[0], bytes[1], bytes[2], bytes[3]);
    else
      for (int k = 0; k < 4; ++k)
        if (4 * vector + k < words) reinterpret_cast<std::uint32_t*>(row + vector)[k] = bytes[k];
  }
}

// Windows per row of the picture, until the last lane has passed the last pixel.
constexpr int halftone_windows(int width, int lag) {
  return divide_up(width + 31 * lag, 32);
}

// What a lane keeps from one column to the next.
template <class Rule, int lag>
struct LaneErrors {
  using Error = typename Rule::Error;
  Error left{};
  Error above[lag]{};  // of the row above, from the column on the left on
  unsigned white = 0;  // the bits of the window before
};

// The columns of a window, one after the other. `from_above(t)`, called by all lanes, is the error
// in the row above the warp's first one, lag - 1 columns to the right of that lane's column;
// `to_below(t, error)` gets each lane's errors.
template <bool all_inside, class Rule, int lag, class FromAbove, class ToBelow>
__device__ __forceinline__ unsigned collect_columns(const HalftoneTask& task, LanePlace place,
                                                    const PixelWords& window,
                                                    LaneErrors<Rule, lag>& errors,
                                                    FromAbove from_above, ToBelow to_below) {
  const int shift = 8 * (place.first & 3);
  const bool is_first = lane_of_thread() == 0;
  const unsigned width = place.has_row(task) ? task.size.width : 0;
  typename Rule::Error of_first[32];  // all of them first, so that no step waits for one
  FACESAT_UNROLL
  for (int t = 0; t < 32; ++t) of_first[t] = from_above(t);
  // What came last from the lane above is looked at as late as possible: with a lag of 3, in the
  // next step.
  auto shuffled = errors.above[lag - 1], of_first_before = shuffled;
  unsigned white = 0, pixels = 0;
  FACESAT_UNROLL
  for (int t = 0; t < 32; ++t) {
    if (t % 4 == 0) pixels = __funnelshift_r(window.words[t / 4], window.words[t / 4 + 1], shift);
    const auto arrived = is_first ? of_first_before : shuffled;
    shuffled = __shfl_up_sync(full_warp, errors.left, 1);
    of_first_before = of_first[t];
    errors.above[lag - 1] = arrived;
    const auto above_right = lag > 2    ? errors.above[lag > 2 ? 2 : 0]
                             : is_first ? of_first[t]
                                        : shuffled;
    const auto rounded = Rule::round(Rule::sum(__byte_perm(pixels, pixel_bits, 0x7440 + t % 4),
                                               errors.above[0], errors.above[1], above_right),
                                     errors.left);
    const bool is_inside = all_inside || static_cast<unsigned>(place.first + t) < width;
    errors.left = is_inside ? rounded.error : typename Rule::Error{};
    if (rounded.is_white && is_inside) white |= 1u << t;
    FACESAT_UNROLL
    for (int k = 0; k + 1 < lag; ++k) errors.above[k] = errors.above[k + 1];
    to_below(t, errors.left);
  }
  errors.above[lag - 1] = is_first ? of_first_before : shuffled;
  return white;
}

// A whole window: all lanes of the warp take part. `y` is the row of the first lane, `first` its
// first column; `is_last`: the row of windows ends here.
template <class Rule, int lag, class FromAbove, class ToBelow>
__device__ __forceinline__ void collect_window(const HalftoneTask& task, int y, int first,
                                               bool is_last, const PixelWindow& window,
                                               LaneErrors<Rule, lag>& errors, FromAbove from_above,
                                               ToBelow to_below) {
  const int lane = static_cast<int>(lane_of_thread());
  const LanePlace place{y + lane, first - lag * lane};
  const bool all_inside =
      first >= 31 * lag && first + 32 <= task.size.width && y + 32 <= task.size.height;
  const PixelWords words = words_of(window, place.first);
  const unsigned white =
      all_inside ? collect_columns<true>(task, place, words, errors, from_above, to_below)
                 : collect_columns<false>(task, place, words, errors, from_above, to_below);
  store_window(task, place, errors.white, white);
  if (is_last) store_window(task, {place.y, place.first + 32}, white, 0);
  errors.white = white;
}

}  // namespace facesat::gpu
