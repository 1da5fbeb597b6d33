// Error collection in one launch, our own form: blocks of several warps, which hand errors on
// through shared memory, and a warp that exchanges errors with other blocks.
//
// Idea: the picture is a chain of rounding errors; its length, not the work, is the time. Lanes lag
//   three columns behind each other, so that a step takes as long as its additions (with two, it
//   takes a shuffle longer). The warps of a block work on a window of 32 columns at a time, each
//   `delay` windows behind the one above it, and pass a barrier per window. Errors of other blocks
//   are words that contain their state, one for each pixel of a block's last row. A warp of its own
//   fetches and publishes them, a window ahead and a window behind, so that no fence is needed and
//   no worker waits for global memory.
// Shapes: blocks of `workers` warps with 32 rows each and the warp that exchanges; a block per
// strip
//   of 32 * workers rows, whose numbers are drawn from a counter.
// Reads and writes per pixel: 1 / 1; a word of 8 bytes for each pixel of a block's last row.
// Launches: 1.
// Departs from Funasaka, Nakano, Ito 2017, section V-C, in all of this; the errors are the same.
#pragma once

#include "kernels/device/soft_synchronization.cuh"
#include "kernels/tasks/halftone_window.cuh"

namespace facesat::gpu {

template <class Rule_, int workers_, int lag_>
struct OwnHalftone {
  using Rule = Rule_;
  using Error = typename Rule::Error;
  using Errors = LaneErrors<Rule, lag_>;
  static constexpr int workers = workers_, lag = lag_;

  // Errors between warps: a ring for each worker, with those of the row above it, and one for the
  // rows below the block. In window w, a warp reads errors from column 32 w + lag - 1 on, which
  // have slot w of its ring; its last lane, which lags 31 lag columns, writes those that are one
  // further than slot w - lag. So slot w is complete after window w + lag of the warp above.
  static constexpr int slots = 4, ring = 32 * slots, delay = lag + 1;
  static_assert(delay <= slots);
  using Rings = SharedArray<Error, (workers + 1) * ring>;
  __device__ static int slot(int number, int window) {
    return number * ring + 32 * (window & (slots - 1));
  }

  HalftoneTask problem;
  int strips = divide_up(problem.size.height, 32 * workers);
  int windows =
      halftone_windows(problem.size.width + 1, lag);  // the pixel past the end has no error
  int steps = windows + (workers - 1) * delay;

  // The column of a lane's error in slot `window`.
  __device__ static int column_of(int window, int lane) { return 32 * window + lag - 1 + lane; }
  // The word of the last row of a strip.
  __device__ Word* word_at(Word* words, int strip, int column) const {
    return words + static_cast<std::ptrdiff_t>(strip) * problem.size.width + column;
  }

  // Fetches the errors above a strip: a slot of the first worker.
  __device__ void fetch(int strip, int window, int lane, Rings& rings, Word* words,
                        unsigned epoch) const {
    const int column = column_of(window, lane);
    Error error{};
    if (strip > 0 && column >= 0 && column < problem.size.width)
      error = wait_for<Error>(word_at(words, strip - 1, column), 1, epoch);
    rings[slot(0, window) + lane] = error;
  }
  // Publishes the errors of a strip: a slot of the rows below.
  __device__ void hand_on(int strip, int window, int lane, Rings& rings, Word* words,
                          unsigned epoch) const {
    const int column = column_of(window, lane);
    if (strip + 1 < strips && column >= 0 && column < problem.size.width)
      publish(word_at(words, strip, column), 1, epoch, inclusive_total,
              static_cast<Error>(rings[slot(workers, window) + lane]));
  }

  // A worker's window; `pixels` are those of this one, and become those of the next.
  __device__ void work(int strip, int worker, int window, PixelWindow& pixels, Errors& errors,
                       Rings& rings) const {
    const int lane = static_cast<int>(lane_of_thread()), first = 32 * window;
    const int y = 32 * (workers * strip + worker);
    const int above = slot(worker, window), below = slot(worker + 1, window - lag) + 1;
    const int last_below = slot(worker + 1, window - lag + 1);
    if (window == 0 && lane == 0)
      for (int k = 1; k < lag; ++k) errors.above[k] = rings[slot(worker, -1) + 32 - lag + k];
    const PixelWindow now = pixels;
    pixels = load_window(problem, {y + lane, first + 32 - lag * lane});
    collect_window(
        problem, y, first, window + 1 == windows, now, errors,
        [&](int t) { return static_cast<Error>(rings[above + t]); },
        [&](int t, Error error) {
          if (lane == 31) rings[t < 31 ? below + t : last_below] = error;
        });
  }
};

template <class Own>
__global__ void __launch_bounds__(32 * (Own::workers + 1))
    own_halftone_kernel(FACESAT_PARAMETER(Own) own, Header* header, Word* words) {
  __shared__ typename Own::Rings rings;
  const int lane = static_cast<int>(lane_of_thread()), warp = static_cast<int>(threadIdx.x) / 32;
  const auto [strip, epoch] = draw_ticket(header);
  const bool is_worker = warp < Own::workers;
  typename Own::Errors errors;
  PixelWindow pixels{};
  if (is_worker) {
    pixels =
        load_window(own.problem, {32 * (Own::workers * strip + warp) + lane, -Own::lag * lane});
    // Past the right edge, errors are read that nobody writes; they lead to nothing.
    for (int k = 0; k < Own::slots; ++k) rings[Own::slot(warp + 1, k) + lane] = {};
  } else {
    own.fetch(strip, -1, lane, rings, words, epoch);
    own.fetch(strip, 0, lane, rings, words, epoch);
  }
  __syncthreads();
  for (int step = 0; step <= own.steps; ++step) {
    const int window = step - warp * Own::delay;
    if (is_worker) {
      if (window >= 0 && window < own.windows) own.work(strip, warp, window, pixels, errors, rings);
    } else {
      // The last worker's window of the step before was step - 1 - (workers - 1) * delay.
      own.hand_on(strip, step - 1 - (Own::workers - 1) * Own::delay - Own::lag, lane, rings, words,
                  epoch);
      own.fetch(strip, step + 1, lane, rings, words, epoch);
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) finish(header, static_cast<int>(gridDim.x), epoch);
}

}  // namespace facesat::gpu
