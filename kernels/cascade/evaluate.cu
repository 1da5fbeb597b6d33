// A block takes a tile of 32 x 32 windows through all stages.
//
// The part of the tables that the tile asks for is copied to shared memory, where a window's
// corners are at offsets that are the same for all windows. Windows are lanes: in the first stage
// four of them a thread, so that a feature is read once for all; survivors are gathered after every
// stage, and when fewer windows than threads are left, teams of threads share out the trees of the
// stage. Fixed point sums make their order irrelevant.
//
// What bounds it is shared memory: 7 to 9 words a decision and window. Survivors are therefore
// gathered so that a warp's windows begin in different banks: the offsets being equal, so do all
// their corners.
#include <type_traits>

#include "kernels/cascade/evaluate.hpp"
#include "kernels/cascade/votes.cuh"
#include "kernels/sat/tile.cuh"

namespace facesat::gpu {
namespace {

constexpr int threads = 256, warps = threads / 32;
constexpr int tile_windows = tile_columns * max_tile_rows, most_a_thread = tile_windows / threads;
constexpr int banks = 32;

// ---- sums of a stage

struct FixedSum {
  static constexpr bool any_order = true;
  using Value = std::int64_t;
  __device__ static Value leaf(std::int64_t bits) { return bits; }
  __device__ static std::int64_t bits(Value sum) { return sum; }
  __device__ static bool rejects(const CompiledStage& stage, Value sum) {
    return sum < stage.threshold;
  }
};

struct OrderedSum {
  static constexpr bool any_order = false;
  using Value = double;
  __device__ static Value leaf(std::int64_t bits) { return __longlong_as_double(bits); }
  __device__ static std::int64_t bits(Value sum) { return __double_as_longlong(sum); }
  __device__ static bool rejects(const CompiledStage& stage, Value sum) {
    return sum < stage.threshold_f64;
  }
};

// One window of a thread.
struct Place {
  unsigned base;  // bytes to its first word in the patch
  float inverse_deviation;
};

// A node in two loads.
__device__ __forceinline__ HaarNode whole(const HaarNode* node) {
  struct alignas(16) Halves {
    uint4 half[2];
  } halves;
  const auto* from = reinterpret_cast<const uint4*>(node);
  halves.half[0] = from[0];
  halves.half[1] = from[1];
  HaarNode loaded;
  memcpy(&loaded, &halves, sizeof loaded);
  return loaded;
}

// Adds up every `stride`-th tree of a stage from the `first` on, for W windows.
template <int W>
struct Stumps {
  using Sum = FixedSum;
  template <class Value>
  __device__ static void run_of(int& i, int end, int stride, const HaarNode* nodes,
                                const Place (&at)[W], std::int64_t (&sums)[W], Value value) {
    for (; i < end; i += stride) {
      const HaarNode node = whole(nodes + i);
      FACESAT_UNROLL
      for (int k = 0; k < W; ++k)
        add_if_less(sums[k], static_cast<float>(value(node, at[k].base)) * at[k].inverse_deviation,
                    node.threshold, node.gain);
    }
  }
  __device__ static void add(const StepCascade& c, const CompiledStage& stage, const Patch& patch,
                             int first, int stride, const Place (&at)[W], std::int64_t (&sums)[W]) {
    const int* run = stage.run;
    int i = run[0] + first;  // goes on from kind to kind
    run_of(i, run[1], stride, c.nodes, at, sums,
           [&](const HaarNode& n, unsigned base) { return edge_value(n, patch, base); });
    run_of(i, run[2], stride, c.nodes, at, sums,
           [&](const HaarNode& n, unsigned base) { return line_value(n, patch, base); });
    run_of(i, run[3], stride, c.nodes, at, sums,
           [&](const HaarNode& n, unsigned base) { return quad_value(n, patch, base); });
    run_of(i, run[4], stride, c.nodes, at, sums, [&](const HaarNode& n, unsigned base) {
      return general_value(n, c.general, patch, base);
    });
  }
};

__device__ __forceinline__ const HaarNode* nodes_of(const StepCascade& c, const HaarNode*) {
  return c.nodes;
}
__device__ __forceinline__ const LbpNode* nodes_of(const StepCascade& c, const LbpNode*) {
  return c.lbp_nodes;
}

template <class Node, class SumOf, int W>
struct Trees {
  using Sum = SumOf;
  __device__ static void add(const StepCascade& c, const CompiledStage& stage, const Patch& patch,
                             int first, int stride, const Place (&at)[W],
                             typename Sum::Value (&sums)[W]) {
    const Node* nodes = nodes_of(c, static_cast<const Node*>(nullptr));
    for (int t = stage.run[0] + first; t < stage.run[1]; t += stride)
      for (int k = 0; k < W; ++k)
        sums[k] += Sum::leaf(
            c.leaves[leaf_of(nodes + c.roots[t], c, patch, at[k].base, at[k].inverse_deviation)]);
  }
};

struct HaarStumps {
  template <int W>
  using Votes = Stumps<W>;
  static constexpr bool normalised = true;
};
template <class Node, class Sum>
struct TreesOf {
  template <int W>
  using Votes = Trees<Node, Sum, W>;
  static constexpr bool normalised = std::is_same_v<Node, HaarNode>;
};

// ---- the tile

struct Tile {
  EvaluateLevel level;
  int column, row;  // of its first window, in grid positions

  __device__ bool has(int id) const {
    return column + id % tile_columns < level.grid_width &&
           row + id / tile_columns < level.grid_height;
  }
  __device__ std::uint32_t cell(int id) const {
    return static_cast<std::uint32_t>(row + id / tile_columns) * level.grid_width + column +
           id % tile_columns;
  }
};

__device__ __forceinline__ Tile find_tile(const EvaluateTask& task, int number) {
  int low = 0;
  for (int high = task.level_count; high - low > 1;) {
    const int middle = (low + high) / 2;
    if (task.levels[middle].first_tile <= number)
      low = middle;
    else
      high = middle;
  }
  const EvaluateLevel level = task.levels[low];
  const int tile = number - level.first_tile;
  const int rows = task.cascade[level.step - 1].layout.rows_of_windows;
  return {level, tile % level.tiles_across * tile_columns, tile / level.tiles_across * rows};
}

// Copies a plane; elements beyond the table's edges, which no window asks for, repeat the last.
__device__ __forceinline__ void load_plane(View<const std::uint32_t> table,
                                           const PatchLayout& layout, int x, int y,
                                           const Patch& patch, int plane) {
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const int last_row = table.size.height - 1 - y;
  for (int i = lane; i < layout.columns; i += 32) {
    const std::uint32_t* column = table.row(y) + min(x + i, table.size.width - 1);
    const int word = plane * layout.plane_words() + layout.word(i, 0);
    constexpr int in_flight = 4;
    for (int j = warp; j < layout.rows; j += in_flight * warps) {
      std::uint32_t v[in_flight];
      FACESAT_UNROLL
      for (int k = 0; k < in_flight; ++k)
        v[k] = column[min(j + k * warps, last_row) * static_cast<int>(table.pitch)];
      FACESAT_UNROLL
      for (int k = 0; k < in_flight; ++k)
        if (j + k * warps < layout.rows) patch[word + (j + k * warps) * layout.pitch] = v[k];
    }
  }
}

// 1 / (area * standard deviation), or 0 for a flat window. squares: the element of the squared
// table that corresponds to the window's first.
__device__ __forceinline__ float inverse_deviation(const StepCascade& c, const Patch& patch,
                                                   unsigned base, const std::uint32_t* squares,
                                                   std::ptrdiff_t pitch, Size inner) {
  const auto p = [&](int i) { return element(patch, base, c.contrast_corner[i]); };
  const auto sum = static_cast<std::int64_t>(p(0) - p(1) - p(2) + p(3));
  const std::uint32_t *upper = squares + pitch + 1, *lower = upper + inner.height * pitch;
  const auto squared_sum =
      static_cast<std::int64_t>(upper[0] - upper[inner.width] - lower[0] + lower[inner.width]);
  const std::int64_t spread = c.contrast_area * squared_sum - sum * sum;
  if (spread < c.min_spread) return 0;
  return static_cast<float>(1.0 / sqrt(static_cast<double>(spread)));
}

// Of a row of windows whose `rejected` bits are known: those that the skip rule leaves out for
// sure. A run of rejections lets every second window be skipped, from the second of the run to the
// one behind it. The state of a run that begins before this word is unknown.
__device__ __forceinline__ unsigned surely_skipped(unsigned rejected, bool begins_row) {
  const unsigned known = begins_row ? rejected : rejected & (rejected + 1);
  const unsigned starts = known & ~(known << 1);
  constexpr unsigned even = 0x55555555u;
  const unsigned from_even = known & ~(known + (starts & even)), from_odd = known & ~from_even;
  return (from_even << 1 & ~even) | (from_odd << 1 & even);
}

// What a block's threads share besides the patch.
struct Shared {
  SharedArray<float, tile_windows> inverse_deviation;
  SharedArray<std::uint16_t, tile_windows> survivors;
SharedArray<std::int64_t, most_a_thread * threads> partial_sums;
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
    const int columns = tile_.level.x + tile_.column * tile_.level.step - 1;
    const int rows = tile_.level.y + tile_.row * tile_.level.step - 1;
    load_plane(task_.sum, cascade_.layout, columns, rows, patch_, 0);
    if (cascade_.layout.planes > 1)
      load_plane(task_.tilted_sum, cascade_.layout, columns, rows, patch_, 1);
    if (thread_ < 2 * banks) {
      shared_.in_bank[thread_] = 0;
      shared_.banks_of_rank[thread_] = 0;
    }
    __syncthreads();
    first_stage();
    for (int s = 1; s < cascade_.stage_count; ++s) {
      const int n = static_cast<int>(shared_.count[0]);
      if (n == 0) return;
      // Several windows a thread share the loads of a feature.
      if (n > 64)
        next_stage<most_a_thread>(s, n);
      else if (n > 32)
        next_stage<2>(s, n);
      else
        next_stage<1>(s, n);
    }
  }

 private:
  template <int W>
  using Votes = typename Form::template Votes<W>;
  using Sum = typename Votes<1>::Sum;
  using Value = typename Sum::Value;

  __device__ unsigned base_of(int id) const { return patch_.address() + first_word(id) * 4; }
  __device__ unsigned first_word(int id) const {
    const PatchLayout& l = cascade_.layout;
    return static_cast<unsigned>(id / tile_columns * l.step * l.pitch + id % tile_columns);
  }

  // Every window: four a thread, each warp's in a row of the grid.
  __device__ void first_stage() {
    const CompiledStage& stage = cascade_.stages[0];
    int ids[most_a_thread];
    Place at[most_a_thread];
    bool inside[most_a_thread], alive[most_a_thread];
    Value sums[most_a_thread];
    bool any = false;
    for (int k = 0; k < most_a_thread; ++k) {
      ids[k] = thread_ + k * threads;
      inside[k] = ids[k] < cascade_.layout.rows_of_windows * tile_columns && tile_.has(ids[k]);
      at[k] = {base_of(inside[k] ? ids[k] : 0), inside[k] ? contrast_of(ids[k]) : 0};
      shared_.inverse_deviation[ids[k]] = at[k].inverse_deviation;
      any = any || at[k].inverse_deviation != 0;
      sums[k] = 0;
    }
    if (__any_sync(full_warp, any))
      Votes<most_a_thread>::add(cascade_, stage, patch_, 0, 1, at, sums);
    for (int k = 0; k < most_a_thread; ++k) {
      const Value sum = sums[k] + Sum::leaf(stage.base);
      const bool looked_at = at[k].inverse_deviation != 0;
      const bool rejected = looked_at && Sum::rejects(stage, sum);
      const unsigned word = __ballot_sync(full_warp, rejected);
      const int row = ids[k] / tile_columns;
      if (task_.rejected && thread_ % 32 == 0 && row < cascade_.layout.rows_of_windows &&
          tile_.row + row < tile_.level.grid_height)
        task_.rejected[tile_.level.first_word + (tile_.row + row) * tile_.level.tiles_across +
                       tile_.column / tile_columns] = word;
      alive[k] = looked_at && !rejected;
      if (inside[k] && !alive[k]) tell_depth(ids[k], 0);
      if (alive[k] && task_.skips)
        alive[k] = (surely_skipped(word, tile_.column == 0) >> (thread_ % 32) & 1) == 0;
      sums[k] = sum;
    }
    conclude(0, ids, alive, sums);
  }

  template <int W>
  __device__ void next_stage(int s, int n) {
    const CompiledStage& stage = cascade_.stages[s];
    int ids[W];
    Place at[W];
    Value sums[W];
    // With fewer windows than threads, teams of at least as many threads as there are windows.
    int shift = 8;  // of the members of a team
    static_assert(threads == 1 << 8);
    if (Sum::any_order) {
      const int needed = (n + W - 1) / W;
      shift = max(needed > 1 ? 32 - __clz(needed - 1) : 0, W == 1 ? 0 : 5);
    }
    const int members = 1 << shift, teams = threads >> shift;
    const int team = thread_ >> shift, slot = thread_ & (members - 1);
    for (int k = 0; k < W; ++k) {
      const int place = slot + k * members;
      ids[k] = place < n ? static_cast<int>(shared_.survivors[place]) : -1;
      const int id = max(ids[k], 0);
      at[k] = {base_of(id), shared_.inverse_deviation[id]};
      sums[k] = 0;
    }
    if (__any_sync(full_warp, ids[0] >= 0))
      Votes<W>::add(cascade_, stage, patch_, team, teams, at, sums);
    if constexpr (Sum::any_order)
      if (teams > 1) gather(sums, members);
    for (int k = 0; k < W; ++k)
      if (team > 0) ids[k] = -1;  // the first team concludes
    bool alive[W];
    for (int k = 0; k < W; ++k) {
      sums[k] += Sum::leaf(stage.base);
      alive[k] = ids[k] >= 0 && !Sum::rejects(stage, sums[k]);
      if (ids[k] >= 0 && !alive[k]) tell_depth(ids[k], s);
    }
    conclude(s, ids, alive, sums);
  }

  // The first team's sums become those of all teams.
  template <int W>
  __device__ void gather(std::int64_t (&sums)[W], int members) {
    for (int k = 0; k < W; ++k) {
      for (int d = members; d < 32; d *= 2) sums[k] += __shfl_xor_sync(full_warp, sums[k], d);
      shared_.partial_sums[k * threads + thread_] = sums[k];
    }
    __syncthreads();
    if (thread_ >= members) return;
    const int stride = max(members, 32);
    for (int k = 0; k < W; ++k)
      for (int from = thread_ + stride; from < threads; from += stride)
        sums[k] += shared_.partial_sums[k * threads + from];
  }

  // After stage s: survivors are listed for the next, or told if there is none.
  template <int W>
  __device__ void conclude(int s, const int (&ids)[W], const bool (&alive)[W],
                           const Value (&sums)[W]) {
    if (s + 1 == cascade_.stage_count) {
      for (int k = 0; k < W; ++k)
        if (alive[k]) tell_candidate(ids[k], sums[k]);
      return;
    }
    const int set = s % 2 * banks;
    unsigned rank[W] = {};
    for (int k = 0; k < W; ++k) {
      if (!alive[k]) continue;
      const unsigned bank = first_word(ids[k]) % banks;
      rank[k] = atomic_add(shared_.in_bank, set + static_cast<int>(bank), 1);
      atomic_or(shared_.banks_of_rank, set + static_cast<int>(rank[k]), 1u << bank);
    }
    __syncthreads();
    if (thread_ < banks) {
      const std::uint32_t in_rank =
          static_cast<std::uint32_t>(__popc(shared_.banks_of_rank[set + thread_]));
      const std::uint32_t end = warp_inclusive_scan(in_rank);
      shared_.rank_begin[thread_] = end - in_rank;
      if (thread_ == banks - 1) shared_.count[0] = end;
      shared_.in_bank[banks - set + thread_] = 0;
      shared_.banks_of_rank[banks - set + thread_] = 0;
    }
    __syncthreads();
    for (int k = 0; k < W; ++k) {
      if (!alive[k]) continue;
      const unsigned bank = first_word(ids[k]) % banks;
      const unsigned before =
          shared_.banks_of_rank[set + static_cast<int>(rank[k])] & ((1u << bank) - 1);
      shared_.survivors[static_cast<int>(shared_.rank_begin[static_cast<int>(rank[k])]) +
                        __popc(before)] = static_cast<std::uint16_t>(ids[k]);
    }
    __syncthreads();
  }

  __device__ float contrast_of(int id) const {
    if (!Form::normalised) return 1;
    const int x = tile_.level.x + (tile_.column + id % tile_columns) * tile_.level.step;
    const int y = tile_.level.y + (tile_.row + id / tile_columns) * tile_.level.step;
    return inverse_deviation(cascade_, patch_, base_of(id),
                             task_.squared_sum.row(y - 1) + x - 1, task_.squared_sum.pitch,
                             task_.inner);
  }

  __device__ void tell_depth(int id, int stages_passed) const {
    if (task_.depths) task_.depths[tile_.cell(id)] = static_cast<std::uint32_t>(stages_passed);
  }
  __device__ void tell_candidate(int id, Value sum) const {
    tell_depth(id, cascade_.stage_count);
    if (!task_.candidates) return;
    const std::uint32_t place = atomicAdd(task_.candidate_count, 1u);
    if (place < task_.capacity)
      task_.candidates[place] = {Sum::bits(sum), tile_.cell(id), tile_.level.index};
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
  const int planes = cascade.has_tilted() ? 2 : 1;
  return std::max(make_patch_layout(cascade.window, 1, planes, 0).bytes(),
                  make_patch_layout(cascade.window, 2, planes, 0).bytes());
}

EvaluatePlan plan_evaluate(const Pyramid& pyramid, const Cascade& cascade) {
  EvaluatePlan plan;
  for (const int step : {1, 2})
    plan.layout[step - 1] = make_patch_layout(cascade.window, step, cascade.has_tilted() ? 2 : 1,
                                              comfortable_patch_bytes);
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
    start(HaarStumps());
  else if (form == haar_trees && fixed_point)
    start(TreesOf<HaarNode, FixedSum>());
  else if (form == haar_trees)
    start(TreesOf<HaarNode, OrderedSum>());
  else if (fixed_point)
    start(TreesOf<LbpNode, FixedSum>());
  else
    start(TreesOf<LbpNode, OrderedSum>());
}

}  // namespace facesat::gpu
