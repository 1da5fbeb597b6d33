// Error diffusion: the ways to compute it.
#include <array>

#include "kernels/device/soft_synchronization.cuh"
#include "kernels/device/warp.cuh"
#include "kernels/tasks/problems.hpp"
#include "kernels/tasks/task_array.cuh"

namespace facesat::gpu {
namespace {

// ---- windows of a warp ----

// A warp diffuses the errors of 32 rows at a time, one per lane, in windows of 32 columns. Each
// lane is `lag` columns behind the lane of the row above, whose errors it gets by a shuffle. The
// lag is at least 2, because a pixel needs the error of its neighbour above on the right. With a
// lag of 3, the result of a shuffle is needed one step later, so that a step waits for arithmetic
// only.

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

// Loads the vectors of the window that are in the picture; the others are zero.
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
  // The value that the lane above sent last is used as late as possible: with a lag of 3, in the
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

// ---- parallelograms, as published ----

// Error collection as a task array: a warp computes a parallelogram of 32 x 32 pixels, whose rows
// are each two columns further to the left than the one above.
//
// Shapes: task (i, j) has rows 32 i to 32 i + 31; lane l has columns 32 j - 2 l to 32 j - 2 l + 31.
//   The bottom row of parallelograms j + 1 and j + 2 above lies above the top row, so that the
//   array is backward.
// Reads and writes per pixel: 1 / 1; the error of every 32nd row, once each.
// Source: Funasaka, Nakano, Ito 2017, section V-C, figures 9 to 11.

// `by_words`: errors are handed on as words with their state.
template <class Rule, bool by_words>
struct HalftoneParallelograms {
  static constexpr bool hands_on_words = by_words;
  static constexpr int threads = 32, lag = 2;
  static constexpr std::array edges{TaskEdge{1, 2}};
  using Error = typename Rule::Error;
  using Element = Error;
  static constexpr int shared_elements = 0;
  using Carried = LaneErrors<Rule, lag>;
  struct Prepared {
    PixelWindow pixels;
  };

  using Bottom = HandedOn<Error, by_words>;
  HalftoneTask problem;
  Bottom bottom;  // the errors of the last row of each row of tasks: rows * width
  int rows = divide_up(problem.size.height, 32);
  int columns = halftone_windows(problem.size.width, lag);

  static HalftoneParallelograms of(const HalftoneTask& problem, void* memory) {
    HalftoneParallelograms tasks{problem, {static_cast<typename Bottom::Stored*>(memory), 0}};
    tasks.bottom.size = static_cast<std::ptrdiff_t>(tasks.rows) * problem.size.width;
    return tasks;
  }
  static std::size_t table_bytes(const HalftoneTask& problem) {
    return Bottom::bytes(of(problem, nullptr).bottom.size);
  }

  // The error above row i of tasks, which is zero outside the picture.
  template <class Team>
  __device__ Error above(int i, int column, const Team& team) const {
    const int width = problem.size.width;
    if (i == 0 || column >= width) return {};
    return bottom.read(team, static_cast<std::ptrdiff_t>(i - 1) * width + column);
  }

  template <class Team>
  __device__ Prepared prepare(int i, int j, const Team& team) const {
    return {load_window(problem, {32 * i + team.rank, 32 * j - lag * team.rank})};
  }

  template <class Team>
  __device__ void perform(int i, int j, const Prepared& prepared, Carried& carried,
                          const Team& team) const {
    const int first = 32 * j, last_lane_first = first - 31 * lag, width = problem.size.width;
    const Error above_lane = above(i, first + 1 + team.rank, team);
    if (j == 0 && team.rank == 0) carried.above[1] = above(i, 0, team);
    // Lanes whose words came at different times would go on apart, for the rest of the row, and
    // each shuffle would have to bring them together: some rows then take four times as long.
    __syncwarp();
    const std::ptrdiff_t last_row = static_cast<std::ptrdiff_t>(i) * width;
    collect_window(
        problem, 32 * i, first, j + 1 == columns, prepared.pixels, carried,
        [&](int t) { return __shfl_sync(full_warp, above_lane, t); },
        [&](int t, Error error) {
          const int column = last_lane_first + t;
          if (team.rank == 31 && column >= 0 && column < width)
            bottom.write(team, last_row + column, error);
        });
  }
};

// ---- our own form ----

// Error collection in one launch: blocks of several warps, which hand errors on through shared
// memory, and a warp that exchanges errors with other blocks.
//
// Idea: each pixel needs the errors of its neighbours, so the time is that of the longest chain of
//   pixels, not that of the work. Each lane is three columns behind the one above, so that a step
//   of the chain takes the time of its additions (with two columns, also that of a shuffle). The
//   warps of a block work on a window of 32 columns at a time, each `delay` windows behind the one
//   above it, and meet at a barrier after each window. Blocks exchange the errors of their last
//   rows as words that contain their state, one per pixel. A warp of its own fetches them a window
//   ahead and publishes them a window behind, so that no fence is needed and no worker waits for
//   global memory.
// Shapes: blocks of `workers` warps with 32 rows each and the warp that exchanges; a block per
//   strip of 32 * workers rows, whose numbers are drawn from a counter.
// Reads and writes per pixel: 1 / 1; a word of 8 bytes for each pixel of a block's last row.
// Launches: 1.
// Departs from Funasaka, Nakano, Ito 2017, section V-C, in all of this; the errors are the same.

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

template <class Rule>
using Own = OwnHalftone<Rule, 4, 3>;

// Words for the last row of each strip.
std::size_t own_workspace_bytes(const HalftoneTask& task) {
  const auto strips = static_cast<std::size_t>(Own<RealHalftone>{task}.strips);
  return header_bytes + strips * static_cast<std::size_t>(task.size.width) * sizeof(Word);
}

void enqueue_own(const HalftoneTask& task, void* workspace, StreamHandle stream) {
  visit_rule(task.rule, [&]<class Rule>(Rule) {
    const Own<Rule> own{task};
    FACESAT_LAUNCH(own_halftone_kernel<Own<Rule>>, dim3(static_cast<unsigned>(own.strips)),
                   dim3(32 * (Own<Rule>::workers + 1)), stream, own,
                   static_cast<Header*>(workspace),
                   reinterpret_cast<Word*>(static_cast<std::byte*>(workspace) + header_bytes));
  });
}

// The engine's solver for the rule of the task.
template <TaskSchedule schedule, bool by_words = true>
HalftoneSolver parallelograms(std::string_view id, std::string_view title,
                              std::string_view source) {
  static const auto of = [](HalftoneRule rule) {
    return visit_rule(rule, []<class Rule>(Rule) {
      return engine_solver<HalftoneTask, HalftoneParallelograms<Rule, by_words>, schedule>({}, {},
                                                                                           {});
    });
  };
  return {.id = id,
          .title = title,
          .source = source,
          .workspace_bytes =
              [](const HalftoneTask& task) { return of(task.rule).workspace_bytes(task); },
          .launches = [](const HalftoneTask& task) { return of(task.rule).launches(task); },
          .enqueue = [](const HalftoneTask& task, void* workspace,
                        StreamHandle stream) { of(task.rule).enqueue(task, workspace, stream); }};
}

constexpr std::string_view kasagi =
    "Kasagi, Nakano, Ito: Parallelization techniques for error diffusion with GPU implementations, "
    "2015 (Parallel-Backward)";
constexpr std::string_view funasaka =
    "Funasaka, Nakano, Ito: Single Kernel Soft Synchronization Technique for Task Arrays on "
    "CUDA-enabled GPUs, with Applications, 2017";

}  // namespace

std::span<const HalftoneSolver> halftone_solvers() {
  using enum TaskSchedule;
  static const std::array solvers{
      HalftoneSolver{.id = "facesat",
                     .title = "Several warps per block, errors through shared memory",
                     .source = "ours",
                     .workspace_bytes = own_workspace_bytes,
                     .launches = [](const HalftoneTask&) { return 1; },
                     .enqueue = enqueue_own},
      parallelograms<warps>("skss_warps", "SKSS: a warp per row of parallelograms", funasaka),
      parallelograms<blocks>("skss_blocks", "SKSS: a block per row of parallelograms", funasaka),
      parallelograms<resident_blocks>("skss_resident", "SKSS: as many blocks as run at a time",
                                      funasaka),
      parallelograms<warps, false>("skss_counters", "skss_warps with counters in place of words",
                                   funasaka),
      parallelograms<steps>("steps", "One launch per set of independent parallelograms", kasagi)};
  return solvers;
}

}  // namespace facesat::gpu
