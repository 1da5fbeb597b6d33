// A block takes a tile of 32 x 32 windows through all stages.
//
// The part of the tables that the tile asks for is copied to shared memory, where a unit's corners
// are at offsets that are the same for all units; a unit is a window, or a pair of them. Units are
// lanes: in the first stage all of them, several a thread, so that a feature is read once for all;
// survivors are gathered after every stage, and when fewer are left than threads can take, teams of
// threads share out the trees of the stage. Fixed point sums make their order irrelevant.
//
// What bounds it is shared memory: 6 to 9 words a decision. Hence pairs, which halve that; and
// survivors are gathered so that a warp's units begin in different banks as far as possible: the
// offsets being equal, so do all their corners.
#include "kernels/cascade/evaluate.hpp"

#include "kernels/cascade/stage_sums.cuh"
#include "kernels/cascade/tile.cuh"
#include "kernels/sat/tile.cuh"

namespace facesat::gpu {
namespace {

constexpr int log_threads = 8, threads = 1 << log_threads, warps = threads / 32;
constexpr int tile_windows = tile_columns * max_tile_rows;
constexpr int banks = 32;

// What a block's threads share besides the patch.
struct Shared {
  SharedArray<float, tile_windows> inverse_deviation;
  SharedArray<std::uint16_t, tile_windows> survivors;  // units, and which of their windows
  SharedArray<std::int64_t, tile_windows> partial_sums;
  // In turns for every other stage, so that one set can be cleared while the other is in use.
  SharedArray<unsigned, 2 * banks> in_bank;        // survivors that begin in each bank
  SharedArray<unsigned, 2 * banks> banks_of_rank;  // banks that have more than `rank` survivors
  SharedArray<unsigned, banks> rank_begin;
  SharedArray<unsigned, 1> count;
};

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
    load_plane<static_cast<Unit>(U), warps>(task_.sum, cascade_.layout, tile_, patch_, 0);
    if (cascade_.layout.planes > 1)
      load_plane<static_cast<Unit>(U), warps>(task_.tilted_sum, cascade_.layout, tile_, patch_, 1);
    if (thread_ < 2 * banks) {
      shared_.in_bank[thread_] = 0;
      shared_.banks_of_rank[thread_] = 0;
    }
    __syncthreads();
    first_stage();
    for (int s = 1; s < cascade_.stage_count; ++s) {
      const int n = static_cast<int>(shared_.count[0]);
      if (n == 0) return;
      if (Sum::any_order && n <= 32) return last_stages(s, n);
      // Several units a thread share the loads of a feature.
      if (n > 64)
        next_stage<most_a_thread>(s, n);
      else
        next_stage<2>(s, n);
    }
  }

 private:
  static constexpr int U = Form::unit, most_a_thread = tile_windows / U / threads;
  using Sum = typename Form::Sum;
  using Value = typename Sum::Value;

  // W units of a thread.
  template <int W>
  struct Units {
    int id[W];            // of a tile: row by row; -1: none
    bool alive[W][U];     // its windows
    Place<U> place[W];
    Value sum[W][U];
  };

  __device__ static int window_of(int unit, int u) {
    return (unit / tile_columns * U + u) * tile_columns + unit % tile_columns;
  }
  __device__ unsigned first_word(int unit) const {
    const PatchLayout& l = cascade_.layout;
    return static_cast<unsigned>(unit / tile_columns * U * l.step * l.pitch + unit % tile_columns);
  }
  __device__ unsigned base_of(int unit) const { return patch_.address() + first_word(unit) * 4; }

  // Every window of the tile; each warp's units are in a row.
  __device__ void first_stage() {
    const CompiledStage& stage = cascade_.stages[0];
    Units<most_a_thread> units;
    bool any = false;
    for (int k = 0; k < most_a_thread; ++k) {
      const int id = thread_ + k * threads;
      units.id[k] = window_of(id, U - 1) < cascade_.layout.rows_of_windows * tile_columns ? id : -1;
      units.place[k].base = base_of(max(units.id[k], 0));
      for (int u = 0; u < U; ++u) {
        const int window = window_of(id, u);
        const bool inside = units.id[k] >= 0 && tile_.has(window);
        const float inverse = !inside             ? 0
                              : !Form::normalised ? 1
                                                  : inverse_deviation(task_, cascade_,
                                                                      tile_.x(window), tile_.y(window));
        if (inside && inverse == 0) tell_depth(window, 0);
        shared_.inverse_deviation[window] = inverse;
        units.place[k].inverse_deviation[u] = inverse;
        units.alive[k][u] = inverse != 0;
        units.sum[k][u] = 0;
        any = any || inverse != 0;
      }
    }
    if (__any_sync(full_warp, any))
      Form::add(cascade_, stage, patch_, 0, 1, units.place, units.sum);
    for (int k = 0; k < most_a_thread; ++k)
      for (int u = 0; u < U; ++u) judge_first(stage, window_of(thread_ + k * threads, u),
                                              units.alive[k][u], units.sum[k][u]);
    conclude(0, units);
  }

  // By whole warps, for a window each in a row of the grid.
  __device__ void judge_first(const CompiledStage& stage, int window, bool& alive, Value& sum) {
    sum += Sum::leaf(stage.base);
    const bool rejected = alive && Sum::rejects(stage, sum);
    const unsigned word = __ballot_sync(full_warp, rejected);
    const int row = window / tile_columns;
    if (task_.rejected && thread_ % 32 == 0 && row < cascade_.layout.rows_of_windows &&
        tile_.row + row < tile_.level.grid_height)
      task_.rejected[tile_.level.first_word + (tile_.row + row) * tile_.level.tiles_across +
                     tile_.column / tile_columns] = word;
    if (rejected) tell_depth(window, 0);
    alive = alive && !rejected;
    if (task_.skips)
      alive = alive && (surely_skipped(word, tile_.column == 0) >> (thread_ % 32) & 1) == 0;
  }

  template <int W>
  __device__ void next_stage(int s, int n) {
    const CompiledStage& stage = cascade_.stages[s];
    // With fewer units than threads can take, teams of at least as many threads as are needed.
    int shift = log_threads;  // of the members of a team
    if (Sum::any_order) {
      const int needed = (n + W - 1) / W;
      shift = max(needed > 1 ? 32 - __clz(needed - 1) : 0, 5);
    }
    const int members = 1 << shift, teams = threads >> shift;
    const int team = thread_ >> shift, slot = thread_ & (members - 1);
    Units<W> units;
    for (int k = 0; k < W; ++k) {
      const int place = slot + k * members;
      const int entry = place < n ? static_cast<int>(shared_.survivors[place]) : 0;
      units.id[k] = place < n ? entry >> U : -1;
      units.place[k].base = base_of(entry >> U);
      for (int u = 0; u < U; ++u) {
        units.place[k].inverse_deviation[u] = shared_.inverse_deviation[window_of(entry >> U, u)];
        units.alive[k][u] = team == 0 && (entry >> u & 1) != 0;  // the first team concludes
        units.sum[k][u] = 0;
      }
    }
    if (__any_sync(full_warp, units.id[0] >= 0))
      Form::add(cascade_, stage, patch_, team, teams, units.place, units.sum);
    if constexpr (Sum::any_order)
      if (teams > 1) gather(units.sum, members);
    for (int k = 0; k < W; ++k)
      for (int u = 0; u < U; ++u) {
        units.sum[k][u] += Sum::leaf(stage.base);
        if (!units.alive[k][u] || !Sum::rejects(stage, units.sum[k][u])) continue;
        units.alive[k][u] = false;
        tell_depth(window_of(units.id[k], u), s);
      }
    conclude(s, units);
  }

  // The first team's sums become those of all teams.
  template <int W>
  __device__ void gather(std::int64_t (&sums)[W][U], int members) {
    for (int k = 0; k < W; ++k)
      for (int u = 0; u < U; ++u)
        shared_.partial_sums[(k * U + u) * threads + thread_] = sums[k][u];
    __syncthreads();
    if (thread_ >= members) return;
    for (int k = 0; k < W; ++k)
      for (int u = 0; u < U; ++u)
        for (int from = thread_ + members; from < threads; from += members)
          sums[k][u] += shared_.partial_sums[(k * U + u) * threads + from];
  }

  // All stages from s on, for at most 32 units. Every warp knows all of them, one a lane, and comes to
  // the same conclusions, so that one barrier a stage is enough. Teams are parts of warps.
  __device__ void last_stages(int s, int n) {
    const int lane = thread_ % 32, warp = thread_ / 32;
    unsigned entry = lane < n ? static_cast<unsigned>(shared_.survivors[lane]) : 0;
    for (;; ++s) {
      const CompiledStage& stage = cascade_.stages[s];
      const int shift = n > 1 ? 32 - __clz(n - 1) : 0, members = 1 << shift;
      const unsigned own = __shfl_sync(full_warp, entry, lane & (members - 1));
      const int id = static_cast<int>(own >> U);
      Place<U> place[1];
      Value sum[1][U];
      place[0].base = base_of(id);
      for (int u = 0; u < U; ++u) {
        place[0].inverse_deviation[u] = shared_.inverse_deviation[window_of(id, u)];
        sum[0][u] = 0;
      }
      Form::add(cascade_, stage, patch_, (warp << 5 | lane) >> shift, threads >> shift, place, sum);
      share_sums(s % 2 * U, members, sum[0]);
      unsigned alive = own & ((1u << U) - 1);
      for (int u = 0; u < U; ++u) {
        sum[0][u] += Sum::leaf(stage.base);
        if ((alive >> u & 1) == 0) continue;
        const bool rejected = Sum::rejects(stage, sum[0][u]);
        if (rejected) alive &= ~(1u << u);
        if (thread_ >= members) continue;  // one speaks for all
        if (rejected)
          tell_depth(window_of(id, u), s);
        else if (s + 1 == cascade_.stage_count)
          tell_candidate(window_of(id, u), sum[0][u]);
      }
      if (s + 1 == cascade_.stage_count) return;
      const unsigned survivors = __ballot_sync(full_warp, alive != 0 && lane < members);
      n = __popc(survivors);
      if (n == 0) return;
      const unsigned next = own >> U << U | alive;
      const int from = lane < n ? nth_set_bit(survivors, lane) : 0;
      entry = __shfl_sync(full_warp, next, from);
      if (lane >= n) entry = 0;
    }
  }

  // Each lane's sums become those of all teams.
  __device__ void share_sums(int set, int members, Value (&sums)[U]) {
    const int lane = thread_ % 32;
    for (int u = 0; u < U; ++u) {
      for (int d = members; d < 32; d *= 2) sums[u] += __shfl_xor_sync(full_warp, sums[u], d);
      shared_.partial_sums[(set + u) * threads + thread_] = sums[u];
    }
    __syncthreads();
    for (int u = 0; u < U; ++u) {
      sums[u] = 0;
      for (int w = 0; w < warps; ++w)
        sums[u] += shared_.partial_sums[(set + u) * threads + w * 32 + lane];
    }
  }

  // After stage s: survivors are listed for the next, or told if there is none.
  template <int W>
  __device__ void conclude(int s, const Units<W>& units) {
    if (s + 1 == cascade_.stage_count) {
      for (int k = 0; k < W; ++k)
        for (int u = 0; u < U; ++u)
          if (units.alive[k][u]) tell_candidate(window_of(units.id[k], u), units.sum[k][u]);
      return;
    }
    const int set = s % 2 * banks;
    unsigned alive[W], rank[W];
    for (int k = 0; k < W; ++k) {
      alive[k] = rank[k] = 0;
      for (int u = 0; u < U; ++u) alive[k] |= units.alive[k][u] ? 1u << u : 0;
      if (alive[k] == 0) continue;
      const unsigned bank = first_word(units.id[k]) % banks;
      rank[k] = atomic_add(shared_.in_bank, set + static_cast<int>(bank), 1);
      atomic_or(shared_.banks_of_rank, set + static_cast<int>(rank[k]), 1u << bank);
    }
    __syncthreads();
    if (thread_ < banks) {
      const auto in_rank =
          static_cast<std::uint32_t>(__popc(shared_.banks_of_rank[set + thread_]));
      const std::uint32_t end = warp_inclusive_scan(in_rank);
      shared_.rank_begin[thread_] = end - in_rank;
      if (thread_ == banks - 1) shared_.count[0] = end;
      shared_.in_bank[banks - set + thread_] = 0;
      shared_.banks_of_rank[banks - set + thread_] = 0;
    }
    __syncthreads();
    for (int k = 0; k < W; ++k) {
      if (alive[k] == 0) continue;
      const unsigned bank = first_word(units.id[k]) % banks;
      const unsigned before =
          shared_.banks_of_rank[set + static_cast<int>(rank[k])] & ((1u << bank) - 1);
      shared_.survivors[static_cast<int>(shared_.rank_begin[static_cast<int>(rank[k])]) +
                        __popc(before)] =
          static_cast<std::uint16_t>(static_cast<unsigned>(units.id[k]) << U | alive[k]);
    }
    __syncthreads();
  }

  __device__ void tell_depth(int window, int stages_passed) const {
    if (task_.depths) task_.depths[tile_.cell(window)] = static_cast<std::uint32_t>(stages_passed);
  }
  __device__ void tell_candidate(int window, Value sum) const {
    tell_depth(window, cascade_.stage_count);
    if (!task_.candidates) return;
    const std::uint32_t place = atomicAdd(task_.candidate_count, 1u);
    if (place < task_.capacity)
      task_.candidates[place] = {Sum::bits(sum), tile_.cell(window), tile_.level.index};
  }

  const EvaluateTask& task_;
  const StepCascade& cascade_;
  const Tile& tile_;
  const Patch& patch_;
  Shared& shared_;
  const int thread_ = static_cast<int>(threadIdx.x);
};

template <class Form>
__global__ void __launch_bounds__(threads, 4)
    evaluate_kernel(const FACESAT_GRID_CONSTANT EvaluateTask task) {
  __shared__ Shared shared;
  const Patch patch;
  const Tile tile = find_tile(task, static_cast<int>(blockIdx.x) + task.first_tile);
  Evaluation<Form>(task, tile, patch, shared).run();
}

}  // namespace

int least_shared_bytes(const Cascade& cascade) {
  return std::max(make_patch_layout(cascade, 1, 0).bytes(),
                  make_patch_layout(cascade, 2, 0).bytes());
}

EvaluatePlan plan_evaluate(const Pyramid& pyramid, const Cascade& cascade) {
  EvaluatePlan plan;
  for (const int step : {1, 2})
    plan.layout[step - 1] = make_patch_layout(cascade, step, comfortable_patch_bytes);
  for (const LevelGroup& group : pyramid.groups) {
    EvaluatePlan::Group& added = plan.groups.emplace_back();
    added.first_level = group.first;
    added.level_count = group.count;
    for (int i = group.first; i < group.first + group.count; ++i) {
      const Level& level = pyramid.levels[i];
      const int rows = plan.layout[level.step - 1].rows_of_windows;
      const int across = (level.grid.width + tile_columns - 1) / tile_columns;
      const int down = (level.grid.height + rows - 1) / rows;
      plan.levels.push_back({level.x, level.y, level.step, level.grid.width, level.grid.height,
                             added.tiles, across, static_cast<std::int32_t>(plan.words), i});
      added.tiles += across * down;
      plan.words += static_cast<std::size_t>(across) * level.grid.height;
    }
  }
  return plan;
}

void enqueue_evaluate(const EvaluateTask& task, CompiledCascade::Form form, bool fixed_point,
                      int tiles, StreamHandle stream) {
  if (tiles == 0) return;
  const int bytes = std::max(task.cascade[0].layout.bytes(), task.cascade[1].layout.bytes());
  const auto start = [&](auto chosen) {
    using Chosen = decltype(chosen);
    FACESAT_LAUNCH_SHARED(evaluate_kernel<Chosen>, dim3(tiles), dim3(threads), bytes, stream, task);
  };
  using enum CompiledCascade::Form;
  if (form == stumps)
    start(Stumps());
  else if (form == haar_trees && fixed_point)
    start(Trees<HaarNode, FixedSum>());
  else if (form == haar_trees)
    start(Trees<HaarNode, OrderedSum>());
  else if (fixed_point)
    start(Trees<LbpNode, FixedSum>());
  else
    start(Trees<LbpNode, OrderedSum>());
}

}  // namespace facesat::gpu
