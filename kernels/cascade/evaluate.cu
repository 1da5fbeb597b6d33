// A block takes a tile of 32 x 32 windows through all stages, or through the early ones, from which
// the survivors go to the tile's list or to a queue (see late_stages.hpp).
//
// The part of the integral images that the tile needs, its patch, is copied to shared memory, where
// a feature's corners have the same offsets for all windows. In the first stage a thread evaluates
// four windows of one column, so that a feature is read once for all four, and the addresses of its
// corners are computed once: with the usual pitch of a patch, the distances between these windows
// are constants. After every stage the survivors (the windows not rejected so far) are listed anew,
// and a thread takes two to four of them. Once there are fewer survivors than the threads can take,
// warps form teams: each team has all survivors, and a part of the stage's trees. Sums are in fixed
// point, so the order of additions does not matter. (Cascades whose sums need f64 have no teams.)
//
// The first stage is limited by the number of instructions, the kernel as a whole by the path from
// shared memory to registers. A node test takes 6 to 9 words of each lane, and as many again if its
// feature is read from memory. Therefore
// - the features of the first stages come from the constant cache, which broadcasts them;
// - survivors are listed so that the windows of a warp begin in different banks as far as possible.
//   All windows use the same offsets, so their corners lie in different banks, too.
// Two other designs are slower: two windows per lane, one in each half of a word (values that need
// more than 16 bits, and halves whose window is rejected, cost more than this saves); and ending a
// stage's sum once its outcome is certain (only 4 % of the nodes can be left out).
//
// The code is large, because there is a copy for each number of windows per thread. Rare parts are
// not inlined: if they are, cascades of trees spend a seventh of the time fetching instructions.
#include <algorithm>
#include <variant>

#include "kernels/cascade/evaluate.hpp"
#include "kernels/cascade/node.cuh"
#include "kernels/cascade/tile.cuh"
#include "kernels/device/platform.hpp"
#include "kernels/device/warp.cuh"

namespace facesat::gpu {
namespace {

constexpr int warps = 8;             // of a block that evaluates a tile
constexpr int threads = 32 * warps;  // of a block
constexpr int banks = 32;            // of shared memory

// Teams of a given number of warps; made without divisions, which would take as long as a short
// stage. Sums that depend on the order of additions have one team only.
template <bool any_order>
struct Teams {
  int members;  // threads of a team
  int count;    // of teams; the warps of others have nothing to do
  int number;   // of the thread's team

  __device__ Teams(int team_warps, int thread) {
    static_assert(warps == 8);
    const int warp = thread / 32;
    members = 32 * team_warps;
    count = !any_order || team_warps > 4 ? 1 : team_warps > 2 ? 2 : 8 >> (team_warps - 1);
    number = warp;
    if (team_warps > 1)
      number = (warp >= team_warps) + (warp >= 2 * team_warps) + (warp >= 3 * team_warps);
  }
};

// The data that a block's threads share besides the patch.
struct Shared {
  SharedArray<float, tile_windows> inverse_deviation;
  SharedArray<std::uint16_t, tile_windows> survivors;
  SharedArray<std::int64_t, tile_windows> partial_sums;
  // Two sets that alternate between stages, so that one can be cleared while the other is in use.
  SharedArray<unsigned, 2 * banks> in_bank;        // survivors that begin in each bank
  SharedArray<unsigned, 2 * banks> banks_of_rank;  // banks that have more than `rank` survivors
  SharedArray<std::uint32_t, 1> first_place;       // of the tile's windows in the queue
};

static_assert(on_host || sizeof(Shared) <= evaluate_static_bytes,
              "why_not() counts on a block's static shared memory to be no more than this");

// The position of the n-th set bit, counted from 0.
__device__ __forceinline__ int nth_set_bit(unsigned bits, int n) {
  int place = 0;
  for (int half = 16; half > 0; half /= 2) {
    const int below = __popc(bits >> place & ((1u << half) - 1));
    if (n < below) continue;
    n -= below;
    place += half;
  }
  return place;
}

// The evaluation of one tile by one block. `Form` is Stumps or Trees (node.cuh).
template <class Form>
class Evaluation {
 public:
  __device__ Evaluation(const EvaluateTask& task, const Tile& tile, const Patch& patch,
                        Shared& shared)
      : task_(task),
        cascade_(task.cascade[tile.level.step - 1]),
        tile_(tile),
        patch_(patch),
        shared_(shared) {}

  __device__ void run() {
    begin_plane<threads>(task_.sum, cascade_.layout, tile_, patch_, 0);
    if (cascade_.layout.planes > 1)
      begin_plane<threads>(task_.tilted_sum, cascade_.layout, tile_, patch_, 1);
    if (thread_ < 2 * banks) {
      shared_.in_bank[thread_] = 0;
      shared_.banks_of_rank[thread_] = 0;
    }
    if (task_.lists.windows && thread_ == 0) task_.lists.counts[blockIdx.x] = 0;
    first_stage();
    for (int s = 1; s < cascade_.stage_count; ++s) {
      const int n = count_;
      if (n == 0) return;
      if (s == early_stages_ && hand_over_survivors(n)) return;
      if (Sum::any_order && n <= 32 && s >= early_stages_) return last_stages(s, n);
      // The windows of a thread share the loads of a feature. Between three and four, it takes
      // what leaves fewer threads without a window.
      if (n <= 64)
        next_stage<2>(s, n, Teams(1, thread_));
      else if (n <= 3 * threads && 3 * warps_for<3>(n) < 4 * warps_for<4>(n))
        next_stage<3>(s, n, Teams(warps_for<3>(n), thread_));
      else
        next_stage<4>(s, n, Teams(warps_for<4>(n), thread_));
    }
  }

 private:
  static constexpr int max_windows_per_thread = tile_windows / threads;
  using Sum = typename Form::Sum;
  using Value = typename Sum::Value;

  using Teams = gpu::Teams<Sum::any_order>;
  using SquareCorners = std::uint32_t[max_windows_per_thread][4];

  // The W windows of a thread. id: the window's number in the tile, row by row; -1: none.
  template <int W>
  struct Windows {
    int id[W];
    bool alive[W];
    Place place[W];
    Value sum[W];
  };

  // The offset in the patch of a window's first element, in words; base_of() is its address.
  __device__ unsigned first_word(int window) const {
    const PatchLayout& l = cascade_.layout;
    const auto number = static_cast<unsigned>(window);
    return static_cast<unsigned>(l.first_word()) +
           number / tile_columns * static_cast<unsigned>(l.next_row()) + number % tile_columns;
  }
  __device__ Base base_of(int window) const { return {patch_.address() + first_word(window) * 4}; }

  // ---- the first stage: a thread has windows of one column, `warps` rows apart

  __device__ int window_at(int k) const { return thread_ + k * threads; }

  // How many of these windows exist.
  __device__ int existing_windows() const {
    const int row = thread_ / tile_columns, column = tile_.column + thread_ % tile_columns;
    const int rows = min(cascade_.layout.rows_of_windows, tile_.level.grid_height - tile_.row);
    return column < tile_.level.grid_width ? (rows - row + warps - 1) / warps : 0;
  }

  // Evaluates every window of the tile.
  __device__ void first_stage() {
    const int existing = existing_windows();
    SquareCorners squares;
    if constexpr (Form::normalised) load_squares(existing, squares);
    wait_for_copies();
    __syncthreads();
    const PatchLayout& l = cascade_.layout;
    const bool usual =
        l.rows_of_windows == max_tile_rows && l.vectors == vectors_across(l.step, usual_width);
    if (usual && l.step == 1)
      first_stage<usual_next_row(1)>(existing, squares);
    else if (usual)
      first_stage<usual_next_row(2)>(existing, squares);
    else
      first_stage<0>(existing, squares);
  }

  // Reads the corners of the windows' normalised rectangles in the table of squares.
  __device__ void load_squares(int existing, SquareCorners& corners) const {
    const int pitch = static_cast<int>(task_.squared_sum.pitch);
    const std::uint32_t* left = task_.squared_sum.row(tile_.y(thread_)) + tile_.x(thread_);
    const std::uint32_t* right = left + task_.inner.width;
    FACESAT_UNROLL
    for (int k = 0; k < max_windows_per_thread; ++k) {
      if (k >= existing) break;
      const int above = k * warps * tile_.level.step * pitch;
      const int below = above + task_.inner.height * pitch;
      corners[k][0] = left[above];
      corners[k][1] = right[above];
      corners[k][2] = left[below];
      corners[k][3] = right[below];
    }
  }

  // next_row: words from a window to the one in the next row, if known at compile time; else 0.
  template <int next_row>
  __device__ void first_stage(int existing, const SquareCorners& squares) {
    const CompiledStage& stage = cascade_.stages[0];
    Windows<max_windows_per_thread> windows;
    bool any = false;
    FACESAT_UNROLL
    for (int k = 0; k < max_windows_per_thread; ++k) {
      windows.id[k] = window_at(k);
      windows.sum[k] = 0;
      Place& place = windows.place[k];
      place.base = base_of(next_row > 0 ? thread_ : k < existing ? windows.id[k] : 0);
      if (next_row > 0) place.base.distance = 4u * next_row * warps * k;
      place.inverse_deviation = k < existing ? inverse_deviation_at(place.base, squares[k]) : 0;
      shared_.inverse_deviation[windows.id[k]] = place.inverse_deviation;
      windows.alive[k] = place.inverse_deviation != 0;
      any = any || windows.alive[k];
    }
    if (__any_sync(full_warp, any))
      Form::add(cascade_, stage, patch_, 0, 1, windows.place, windows.sum);
    const CompiledStage end = stage;  // read once, in spite of the writes that follow
    FACESAT_UNROLL
    for (int k = 0; k < max_windows_per_thread; ++k)
      test_first_stage(end, windows.id[k], k < existing, windows.alive[k], windows.sum[k]);
    list_or_report(0, windows);
  }

  // Of the first window of a row to that of the next one, for the usual pitch of the patch.
  static constexpr int usual_next_row(int step) {
    return PatchLayout{step, max_tile_rows, vectors_across(step, usual_width)}.next_row();
  }

  __device__ float inverse_deviation_at(Base base, const std::uint32_t (&squares)[4]) const {
    if constexpr (!Form::normalised) return 1;
    const std::uint32_t(&at)[4] = cascade_.normalised_corners;
    const std::uint32_t sums[] = {element(patch_, base, at[0]), element(patch_, base, at[1]),
                                  element(patch_, base, at[2]), element(patch_, base, at[3])};
    return inverse_deviation(cascade_, sums, squares);
  }

  // Decides on a window after the first stage, and writes the word of rejected windows for the skip
  // rule. Called by whole warps, with one window per lane, all in one row of the grid.
  __device__ void test_first_stage(const CompiledStage& stage, int window, bool exists, bool& alive,
                                   Value& sum) {
    sum += Sum::leaf(stage.base);
    const bool rejected = alive && Sum::rejects(stage, sum);
    const unsigned word = __ballot_sync(full_warp, rejected);
    const int row = window / tile_columns;
    if (task_.rejected && thread_ % 32 == 0 && row < cascade_.layout.rows_of_windows &&
        tile_.row + row < tile_.level.grid_height)
      task_.rejected[tile_.level.first_word + (tile_.row + row) * tile_.level.tiles_across +
                     tile_.column / tile_columns] = word;
    alive = alive && !rejected;
    if (exists && !alive) report_depth(window, 0);
    if (task_.skips)
      alive = alive && (surely_skipped(word, tile_.column == 0) >> (thread_ % 32) & 1) == 0;
  }

  // ---- the next stages: teams of `team_warps` warps divide the trees among themselves

  // How many warps have room for n windows, if each thread takes W of them.
  template <int W>
  __device__ static int warps_for(int n) {
    return (n + 32 * W - 1) / (32 * W);
  }

  // Evaluates stage s for n windows, W per thread. Each team has all windows.
  template <int W>
  __device__ void next_stage(int s, int n, const Teams& teams) {
    const CompiledStage& stage = cascade_.stages[s];
    const int first_place = thread_ - teams.number * teams.members;
    Windows<W> windows;
    for (int k = 0; k < W; ++k) {
      const int place = first_place + k * teams.members;
      const int id = place < n ? static_cast<int>(shared_.survivors[place]) : 0;
      windows.place[k] = {base_of(id), shared_.inverse_deviation[id]};
      windows.sum[k] = 0;
    }
    if (teams.number < teams.count)
      Form::add(cascade_, stage, patch_, teams.number, teams.count, windows.place, windows.sum);
    if constexpr (Sum::any_order)
      if (teams.count > 1) gather(windows.sum, teams);
    __syncwarp();  // so that windows' numbers are read again, rather than kept in registers
    const CompiledStage end = stage;  // as in first_stage()
    for (int k = 0; k < W; ++k) {
      const int place = first_place + k * teams.members;
      windows.alive[k] = place < n && teams.number == 0;  // only the first team keeps results
      if (place < n) windows.id[k] = shared_.survivors[place];
      windows.sum[k] += Sum::leaf(end.base);
      if (!windows.alive[k] || !Sum::rejects(end, windows.sum[k])) continue;
      windows.alive[k] = false;
      report_depth(windows.id[k], s);
    }
    list_or_report(s, windows);
  }

  // Adds the sums of all other teams to those of the first.
  template <int W>
  __device__ void gather(Value (&sums)[W], const Teams& teams) {
    for (int k = 0; k < W; ++k) shared_.partial_sums[k * threads + thread_] = sums[k];
    __syncthreads();
    if (teams.number > 0) return;
    const int end = teams.count * teams.members;
    for (int k = 0; k < W; ++k)
      for (int from = thread_ + teams.members; from < end; from += teams.members)
        sums[k] += shared_.partial_sums[k * threads + from];
  }

  // ---- the last stages

  // log2 of the smallest power of two that is at least the number of windows.
  __device__ static int log_members(int windows) {
    return windows > 1 ? 32 - __clz(windows - 1) : 0;
  }

  // Evaluates all stages from s on, for at most 32 windows. Every warp holds all of these windows,
  // one per lane, and computes the same results, so that one barrier per stage is enough. A team
  // has as many threads as there are windows, rounded up to a power of two.
  __device__ void last_stages(int s, int n) {
    const int lane = thread_ % 32;
    int id = lane < n ? static_cast<int>(shared_.survivors[lane]) : -1;
    for (;; ++s) {
      const CompiledStage& stage = cascade_.stages[s];
      const int shift = log_members(n), members = 1 << shift;
      id = __shfl_sync(full_warp, id, lane & (members - 1));
      const Place place[1] = {{base_of(max(id, 0)), shared_.inverse_deviation[max(id, 0)]}};
      Value sum[1] = {0};
      Form::add(cascade_, stage, patch_, thread_ >> shift, threads >> shift, place, sum);
      share_sum(s % 2, members, sum[0]);
      sum[0] += Sum::leaf(stage.base);
      const bool rejected = Sum::rejects(stage, sum[0]);
      if (thread_ < members && id >= 0) {  // one lane per window reports
        if (rejected)
          report_depth(id, s);
        else if (s + 1 == cascade_.stage_count)
          report_candidate(id, sum[0]);
      }
      const unsigned survivors = __ballot_sync(full_warp, id >= 0 && !rejected && lane < members);
      n = __popc(survivors);
      if (n == 0 || s + 1 == cascade_.stage_count) return;
      id = __shfl_sync(full_warp, id, nth_set_bit(survivors, lane));
      if (lane >= n) id = -1;
    }
  }

  // Adds up the sums of all teams, in every lane. `set` alternates from call to call.
  __device__ void share_sum(int set, int members, Value& sum) {
    for (int d = members; d < 32; d *= 2) sum += __shfl_xor_sync(full_warp, sum, d);
    shared_.partial_sums[set * threads + thread_] = sum;
    __syncthreads();
    sum = 0;
    for (int w = 0; w < warps; ++w)
      sum += shared_.partial_sums[set * threads + w * 32 + thread_ % 32];
  }

  // Lists the survivors of stage s for the next stage, or reports them if s is the last. A window's
  // rank is the number of survivors counted before it that begin in the same bank; windows are
  // listed by rank, so the windows of a warp begin in different banks, except where two ranks meet.
  template <int W>
  __device__ void list_or_report(int s, const Windows<W>& windows) {
    if (s + 1 == cascade_.stage_count) {
      for (int k = 0; k < W; ++k)
        if (windows.alive[k]) report_candidate(windows.id[k], windows.sum[k]);
      return;
    }
    const int set = s % 2 * banks;
    unsigned rank[W] = {};
    for (int k = 0; k < W; ++k) {
      if (!windows.alive[k]) continue;
      const unsigned bank = windows.place[k].base.bank();
      rank[k] = atomic_add(shared_.in_bank, set + static_cast<int>(bank), 1);
      atomic_or(shared_.banks_of_rank, set + static_cast<int>(rank[k]), 1u << bank);
    }
    __syncthreads();
    // Each warp computes the places itself: lane r holds the first slot of rank r. There are at
    // most 32 ranks, as many as a bank has windows.
    const unsigned in_rank = shared_.banks_of_rank[set + thread_ % 32];
    const std::uint32_t end = warp_inclusive_scan(static_cast<std::uint32_t>(__popc(in_rank)));
    const std::uint32_t begin = end - static_cast<std::uint32_t>(__popc(in_rank));
    if (thread_ < banks) {
      shared_.in_bank[banks - set + thread_] = 0;
      shared_.banks_of_rank[banks - set + thread_] = 0;
    }
    for (int k = 0; k < W; ++k) {
      const int lane = static_cast<int>(rank[k]);
      const unsigned others = __shfl_sync(full_warp, in_rank, lane);
      const std::uint32_t place = __shfl_sync(full_warp, begin, lane);
      if (!windows.alive[k]) continue;
      const unsigned bank = windows.place[k].base.bank();
      shared_.survivors[static_cast<int>(place) + __popc(others & ((1u << bank) - 1))] =
          static_cast<std::uint16_t>(windows.id[k]);
    }
    count_ = static_cast<int>(__shfl_sync(full_warp, end, banks - 1));
    __syncthreads();
  }

  // To the tile's list if there are lists, else to the queue. Returns false if the queue has not
  // enough room for all of them.
  __device__ bool hand_over_survivors(int n) {
    if (!task_.lists.windows) return enqueue_survivors(n);
    if (thread_ == 0) task_.lists.counts[blockIdx.x] = static_cast<std::uint32_t>(n);
    LateWindow* const list = task_.lists.windows + std::size_t{blockIdx.x} * tile_windows;
    for (int i = thread_; i < n; i += threads) {
      const int id = shared_.survivors[i];
      list[i] = {static_cast<std::uint32_t>(id), shared_.inverse_deviation[id]};
    }
    return true;
  }

  __device__ bool enqueue_survivors(int n) {
    const WindowQueue& queue = task_.late;
    if (thread_ == 0)
      shared_.first_place[0] = atomicAdd(&queue.state->count, static_cast<std::uint32_t>(n));
    __syncthreads();
    const std::uint32_t first = shared_.first_place[0];
    const bool fits = first + static_cast<std::uint32_t>(n) <= queue.capacity;
    for (int i = thread_; i < n; i += threads) {
      const std::uint32_t place = first + static_cast<std::uint32_t>(i);
      const int id = shared_.survivors[i];
      if (fits)
        queue.windows[place] = {first_pixel(id), shared_.inverse_deviation[id]};
      else if (place < queue.capacity)
        queue.windows[place] = {};
    }
    return fits;
  }

  __device__ std::uint32_t first_pixel(int window) const {
    return static_cast<std::uint32_t>(tile_.y(window)) * task_.atlas_pitch +
           static_cast<std::uint32_t>(tile_.x(window));
  }

  __device__ void report_depth(int window, int stages_passed) const {
    if (task_.depths) task_.depths[tile_.cell(window)] = static_cast<std::uint32_t>(stages_passed);
  }
  __device__ void report_candidate(int window, Value sum) const {
    report_depth(window, cascade_.stage_count);
    if (!task_.candidates) return;
    const std::uint32_t place = atomicAdd(task_.candidate_count, 1u);
    if (place < task_.capacity)
      task_.candidates[place] = {Sum::bits(sum), tile_.cell(window), tile_.level_index};
  }

  const EvaluateTask& task_;
  const StepCascade& cascade_;
  const Tile& tile_;
  const Patch& patch_;
  Shared& shared_;
  const int thread_ = static_cast<int>(threadIdx.x);
  const int early_stages_ = task_.lists.windows || task_.late.windows ? task_.early_stages : 0;
  int count_ = 0;  // number of survivors
};

template <class Form>
__global__ void __launch_bounds__(threads, blocks_per_multiprocessor)
    evaluate_kernel(FACESAT_PARAMETER(EvaluateTask) task) {
  __shared__ Shared shared;
  const Patch patch;
  const Tile tile = tile_of(task, task.tiles[blockIdx.x]);
  Evaluation<Form>(task, tile, patch, shared).run();
}

}  // namespace

void enqueue_evaluate(const EvaluateTask& task, const CompiledCascade& compiled, int tiles,
                      StreamHandle stream) {
  if (tiles == 0) return;
  const int bytes = std::max(task.cascade[0].layout.bytes(), task.cascade[1].layout.bytes());
  const auto start = [&](auto form) {
    using Form = decltype(form);
    FACESAT_LAUNCH_SHARED(evaluate_kernel<Form>, dim3(tiles), dim3(threads), bytes, stream, task);
  };
  std::visit(
      [&]<class Node>(const std::vector<Node>&) {
        if (compiled.stumps)
          start(Stumps<Node>());
        else if (compiled.fixed_point)
          start(Trees<Node, FixedSum>());
        else
          start(Trees<Node, OrderedSum>());
      },
      compiled.nodes);
}

}  // namespace facesat::gpu
