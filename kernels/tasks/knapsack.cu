// The 0-1 knapsack problem: the ways to solve it, and the items of the best choice.
#include <array>

#include "kernels/device/warp.cuh"
#include "kernels/tasks/problems.hpp"
#include "kernels/tasks/task_array.cuh"

namespace facesat::gpu {
namespace {

// ---- strips, as published ----

// The 0-1 knapsack problem as a task array: a warp computes 32 capacities of one item, or of
// several items one after the other.
//
// Shapes: task (i, j) computes V for capacities 32 i to 32 i + 31 and items k j to k j + k - 1;
//   lane l has capacity 32 i + l. With k = 1 the array is forward (V. Boyer, D. El Baz, M. Elkihel,
//   "Solving knapsack problems on GPU", Computers and Operations Research 39, 2012), with more it
//   is fair (J. F. O'Connell, C. L. Mumford, "An exact dynamic programming based method to solve
//   optimisation problems using GPUs", CANDAR 2014).
// Reads and writes per entry of V: 1 / 1, and one bit for the choice.
// Source: Funasaka, Nakano, Ito 2017, section V-A.

// Waits for what the capacities of row i need from rows above, for an item of this weight: those
// that are `weight` smaller lie in one or two rows, and `which` of them this thread waits for. A
// row has `strip` capacities.
__device__ __forceinline__ void wait_for_lighter(int i, int column, int weight, int which,
                                                 int strip, FinishedTasks& finished) {
  const int up = weight / strip + which;
  if (up > 0 && up <= i) finished.wait(i - up, column);
}

// `by_words`: entries of V are words with their state.
template <int items_per_task, bool by_words>
struct KnapsackStrips {
  static constexpr bool hands_on_words = by_words;
  static constexpr int threads = 32, strip = 32;
  static constexpr std::array edges{TaskEdge{1, items_per_task == 1 ? -1 : 0}};
  using Element = float;
  static constexpr int shared_elements = 0;
  struct Carried {
    float value = 0;  // V of the lane's capacity
  };
  struct Prepared {  // of item `lane % items_per_task` of the task
    float value;
    int weight;
  };

  using Table = HandedOn<float, by_words>;
  KnapsackTask problem;
  Table table;  // V of all items and capacities, a row of `pitch` for each item
  int rows = divide_up(problem.capacity + 1, strip);
  int columns = divide_up(problem.items, items_per_task);
  std::ptrdiff_t pitch = static_cast<std::ptrdiff_t>(rows) * strip;

  static KnapsackStrips of(const KnapsackTask& problem, void* memory) {
    KnapsackStrips strips{problem, {static_cast<typename Table::Stored*>(memory), 0}};
    strips.table.size = strips.pitch * problem.items;
    return strips;
  }
  static std::size_t table_bytes(const KnapsackTask& problem) {
    return Table::bytes(of(problem, nullptr).table.size);
  }

  template <class Team>
  __device__ Prepared prepare(int, int j, const Team& team) const {
    const int item = min(j * items_per_task + team.rank % items_per_task, problem.items - 1);
    return {problem.values[item], problem.weights[item]};
  }

  // The entries of the item before are needed, which for the first item of a task are in the column
  // before.
  __device__ void wait(int i, int j, const Prepared& prepared, int lane,
                       FinishedTasks& finished) const {
    const int column = items_per_task == 1 ? j - 1 : j;
    if (items_per_task > 16 || lane / items_per_task % 2 == 0)
      wait_for_lighter(i, column, prepared.weight, 0, strip, finished);
    if (items_per_task > 16 || lane / items_per_task % 2 == 1)
      wait_for_lighter(i, column, prepared.weight, 1, strip, finished);
  }

  template <class Team>
  __device__ void perform(int i, int j, const Prepared& prepared, Carried& carried,
                          const Team& team) const {
    const int capacity = strip * i + team.rank;
    const bool exists = capacity <= problem.capacity;
    for (int k = 0; k < items_per_task; ++k) {
      const int item = j * items_per_task + k;
      if (item >= problem.items) break;
      const int weight = __shfl_sync(full_warp, prepared.weight, k);
      const float value = __shfl_sync(full_warp, prepared.value, k);
      if (k > 0) team.sync();  // the item before is in the table
      const std::ptrdiff_t row = item * pitch;
      bool is_taken = false;
      if (exists && capacity >= weight) {
        const float before = item > 0 ? table.read(team, row - pitch + capacity - weight) : 0.0f;
        const float with = before + value;
        is_taken = with > carried.value;
        if (is_taken) carried.value = with;
      }
      if (exists) table.write(team, row + capacity, carried.value);
      const unsigned taken = __ballot_sync(full_warp, is_taken);
      if (team.rank == 0) problem.taken[item * taken_words(problem.capacity) + i] = taken;
      if (exists && item + 1 == problem.items) problem.best[capacity] = carried.value;
    }
  }
};

// ---- blocks, our own form ----

// The 0-1 knapsack problem as a task array, our own form: a block keeps thousands of capacities and
// computes many items before it needs other rows again.
//
// Idea: the capacities of a row of tasks stay in registers, and in shared memory, from which other
//   threads read those that are lighter by an item's weight. Only what the rows below will read
//   goes to global memory: the last entries of a row, as many as the next item weighs. What a task
//   needs from rows above, it loads for all of its items together, before the first. So there is a
//   barrier per item, but the latency of global memory only once per task.
// Shapes: blocks of `threads_` threads with `per_thread` capacities each; a warp has 32 per_thread
//   adjacent ones.
// Reads and writes of global memory per entry of V: one bit; weight / strip words are written and
//   read.
// Departs from Funasaka, Nakano, Ito 2017 in all of this; the table and the edges are the paper's.

template <int threads_, int per_thread, int items_per_task>
struct KnapsackBlocks {
  static_assert(items_per_task < 32 && items_per_task % 2 == 0);
  static constexpr bool hands_on_words = true;
  static constexpr int threads = threads_, strip = threads * per_thread;
  static constexpr std::array edges{TaskEdge{1, 0}};
  using Element = float;
  // Shared memory: V of an item and of the item before, and entries of rows above. Kernels without
  // dynamic shared memory have 48 KB.
  static constexpr int room_above = std::min(8192, 12 * 1024 - 64 - 2 * strip);
  static constexpr int shared_elements = 2 * strip + room_above;
  struct Carried {
    float value[per_thread]{};
  };
  struct Prepared {  // of item `lane` of the task; lane `items_per_task` has the one after it
    float value;
    int weight;
  };

  using Table = HandedOn<float, true>;
  KnapsackTask problem;
  int first_item, items;  // of this launch
  // V of the item before the first one (null: there is none), and of the last one.
  const float* before;
  float* after;
  Table table;  // V of this launch's items, as far as other rows need it: a row of `pitch` each
  int rows = divide_up(problem.capacity + 1, strip);
  int columns = divide_up(items, items_per_task);
  std::ptrdiff_t pitch = static_cast<std::ptrdiff_t>(rows) * strip;

  template <class Team>
  __device__ Prepared prepare(int, int j, const Team& team) const {
    const int item =
        min(j * items_per_task + min(team.rank % 32, items_per_task), items - 1) + first_item;
    return {problem.values[item], problem.weights[item]};
  }

  // Loads V of the item before `item`, from `capacity` on, to element `to` of the shared memory, by
  // a warp. Capacities below 0 are left out.
  template <class Team>
  __device__ void load_above(int item, int capacity, int count, int to, const Team& team) const {
    constexpr int at_once = 8;
    for (int i = team.rank % 32; i < count; i += 32 * at_once) {
      const auto exists = [&](int k) { return i + 32 * k < count && capacity + i + 32 * k >= 0; };
      float values[at_once];
      if (item > 0) {
        table.read(team, (item - 1) * pitch + capacity + i, 32, exists, values);
      } else {
        FACESAT_UNROLL
        for (int k = 0; k < at_once; ++k)
          values[k] = exists(k) && before ? before[capacity + i + 32 * k] : 0.0f;
      }
      FACESAT_UNROLL
      for (int k = 0; k < at_once; ++k)
        if (exists(k)) team[to + i + 32 * k] = values[k];
    }
  }

  // V of the item before `item` at a capacity of a row above that was not loaded.
  template <class Team>
  __device__ float above(int item, int capacity, const Team& team) const {
    if (item > 0) return table.read(team, (item - 1) * pitch + capacity);
    return before ? before[capacity] : 0.0f;
  }

  template <class Team>
  __device__ void perform(int i, int j, const Prepared& prepared, Carried& carried,
                          const Team& team) const {
    const int lane = team.rank % 32, warp = team.rank / 32;
    const int base = strip * i, first = 32 * per_thread * warp + lane;  // of the thread's entries
    const int items_here = min(items_per_task, items - j * items_per_task);
    if (j == 0 && before) {
      FACESAT_UNROLL
      for (int m = 0; m < per_thread; ++m) {
        const int capacity = base + first + 32 * m;
        if (capacity <= problem.capacity) carried.value[m] = before[capacity];
      }
    }
    FACESAT_UNROLL
    for (int m = 0; m < per_thread; ++m) team[first + 32 * m] = carried.value[m];
    // Of item `lane`: how many entries it needs from rows above, and where they are kept.
    const int needed = i > 0 && lane < items_here ? min(prepared.weight, strip) : 0;
    const int kept = 2 * strip + warp_inclusive_scan(needed) - needed;
    for (int k = warp; k < items_here; k += threads / 32) {
      const int count = __shfl_sync(full_warp, needed, k), to = __shfl_sync(full_warp, kept, k);
      const int weight = __shfl_sync(full_warp, prepared.weight, k);
      if (to + count <= shared_elements)
        load_above(j * items_per_task + k, base - weight, count, to, team);
    }
    team.sync();
    const std::size_t words = taken_words(problem.capacity);
    const std::size_t word = static_cast<std::size_t>((base + first) / 32 + lane);
    const bool has_word = lane < per_thread && word < words;
    std::uint32_t* own_word =
        problem.taken + static_cast<std::size_t>(first_item + j * items_per_task) * words + word;
    std::ptrdiff_t row = static_cast<std::ptrdiff_t>(j) * items_per_task * pitch + base;
    // Of the lane's item: where V of a lighter entry lies if it is in a row above; or -1.
    const int above_from = kept + needed <= shared_elements ? kept : -1;
    int weight = __shfl_sync(full_warp, prepared.weight, 0);
    for (int k = 0; k < items_here; ++k) {
      const int from = k % 2 * strip, to = strip - from;  // halves of the shared memory
      const int next_weight = __shfl_sync(full_warp, prepared.weight, k + 1);
      const float value = __shfl_sync(full_warp, prepared.value, k);
      const int from_above = __shfl_sync(full_warp, above_from, k);
      const bool is_last = j * items_per_task + k + 1 == items;
      unsigned taken = 0;  // of the lane: word `lane` of the warp's
      FACESAT_UNROLL
      for (int m = 0; m < per_thread; ++m) {
        const int place = first + 32 * m, capacity = base + place;
        bool is_taken = false;
        if (capacity >= weight && capacity <= problem.capacity) {
          const bool is_here = place >= weight;
          const float lighter =
              is_here || from_above >= 0
                  ? static_cast<float>(team[is_here ? from + place - weight : from_above + place])
                  : above(j * items_per_task + k, capacity - weight, team);
          const float with = lighter + value;
          is_taken = with > carried.value[m];
          if (is_taken) carried.value[m] = with;
        }
        const unsigned bits = __ballot_sync(full_warp, is_taken);
        if (lane == m) taken = bits;
        team[to + place] = carried.value[m];
      }
      if (has_word) *own_word = taken;
      own_word += words;
      // The last entries of the strip, for the rows below.
      if (32 * per_thread * (warp + 1) > strip - next_weight && !is_last) {
        FACESAT_UNROLL
        for (int m = 0; m < per_thread; ++m)
          if (first + 32 * m >= strip - next_weight)
            table.write(team, row + first + 32 * m, carried.value[m]);
      }
      row += pitch;
      weight = next_weight;
      team.sync();
    }
    if (j + 1 < columns) return;
    FACESAT_UNROLL
    for (int m = 0; m < per_thread; ++m) {
      const int capacity = base + first + 32 * m;
      if (capacity <= problem.capacity) after[capacity] = carried.value[m];
    }
  }
};

// ---- solvers of our own form

// A launch takes as many items as there is room for V of in `table`: usually all.
constexpr std::size_t most_table_bytes = std::size_t{32} << 30;

template <class Blocks>
struct Windows {
  static Blocks blocks(const KnapsackTask& task, int first_item = 0, int items = 1) {
    Blocks blocks{task, first_item, items, nullptr, nullptr, {nullptr, 0}};
    blocks.table.size = blocks.pitch * items;
    return blocks;
  }
  static int items_per_launch(const KnapsackTask& task) {
    const std::size_t room = on_host ? 40 : most_table_bytes / table_bytes(task, 1);
    return static_cast<int>(std::clamp<std::size_t>(room, 1, static_cast<std::size_t>(task.items)));
  }
  static std::size_t table_bytes(const KnapsackTask& task, int items) {
    return Blocks::Table::bytes(blocks(task, 0, items).table.size);
  }
  static std::size_t engine_bytes(const KnapsackTask& task) {
    return round_up_256(task_workspace_bytes<Blocks>(blocks(task).rows, blocks(task).columns,
                                                     TaskSchedule::blocks));
  }

  // For the engine, for V of the items of a launch, and for V between launches, twice.
  static std::size_t workspace_bytes(const KnapsackTask& task) {
    return engine_bytes(task) + table_bytes(task, items_per_launch(task)) +
           2 * static_cast<std::size_t>(blocks(task).pitch) * sizeof(float);
  }
  static int launches(const KnapsackTask& task) {
    return divide_up(task.items, items_per_launch(task));
  }
  static void enqueue(const KnapsackTask& task, void* workspace, StreamHandle stream) {
    const std::ptrdiff_t pitch = blocks(task).pitch;
    const int step = items_per_launch(task);
    std::byte* const table = static_cast<std::byte*>(workspace) + engine_bytes(task);
    float* const between = reinterpret_cast<float*>(table + table_bytes(task, step));
    for (int first = 0, launch = 0; first < task.items; first += step, ++launch) {
      Blocks tasks = blocks(task, first, std::min(step, task.items - first));
      tasks.before = first > 0 ? between + launch % 2 * pitch : nullptr;
      tasks.after = first + step < task.items ? between + (launch + 1) % 2 * pitch : task.best;
      tasks.table.values = reinterpret_cast<Word*>(table);
      enqueue_tasks(tasks, TaskSchedule::blocks, workspace, stream);
    }
  }
};

// Calls visit.operator()<Windows<...>>() for blocks that suit the capacity: about a hundred strips,
// as measured on an H200, whose rows follow each other like a staircase.
template <class Visit>
auto visit_windows(const KnapsackTask& task, Visit visit) {
  constexpr int threads = on_host ? 64 : 512, more_threads = on_host ? 96 : 1024;
  const int per_thread = divide_up(task.capacity + 1, 128 * threads);
  if (per_thread <= 1) return visit.template operator()<Windows<KnapsackBlocks<threads, 1, 16>>>();
  if (per_thread <= 2) return visit.template operator()<Windows<KnapsackBlocks<threads, 2, 16>>>();
  if (per_thread <= 4)
    return visit.template operator()<Windows<KnapsackBlocks<more_threads, 2, 16>>>();
  return visit.template operator()<Windows<KnapsackBlocks<more_threads, 4, 8>>>();
}

constexpr KnapsackSolver own{
    .id = "facesat",
    .title = "SKSS with thousands of capacities per block, in registers and shared memory",
    .source = "ours",
    .workspace_bytes =
        [](const KnapsackTask& task) {
          return visit_windows(task, [&]<class W>() { return W::workspace_bytes(task); });
        },
    .launches =
        [](const KnapsackTask& task) {
          return visit_windows(task, [&]<class W>() { return W::launches(task); });
        },
    .enqueue =
        [](const KnapsackTask& task, void* workspace, StreamHandle stream) {
          visit_windows(task, [&]<class W>() { W::enqueue(task, workspace, stream); });
        }};

// ---- the items of the best choice

constexpr int choice_threads = 256, choice_words = 8192;  // of shared memory
constexpr int most_grouped = 64;                          // items

// One block walks from the last item to the first. An item's bit lies at a capacity that the items
// after it decide, so that the walk is a chain of loads. Items are therefore taken in groups: of
// each, all words that the walk may need, which the sum of weights before it in the group limits,
// are loaded into shared memory together.
__global__ void __launch_bounds__(choice_threads)
    choice_kernel(KnapsackTask task, std::uint8_t* chosen) {
  __shared__ SharedArray<std::uint32_t, choice_words> words;
  __shared__ SharedArray<int, most_grouped> weight, low, offset;  // of each item of the group
  __shared__ SharedArray<int, 2> walk;                            // capacity, items in the group
  const int thread = static_cast<int>(threadIdx.x);
  const std::size_t pitch = taken_words(task.capacity);
  if (thread == 0) walk[0] = task.capacity;
  for (int left = task.items; left > 0;) {
    __syncthreads();  // the walk through the group before has ended
    if (thread < most_grouped && thread < left) weight[thread] = task.weights[left - 1 - thread];
    __syncthreads();
    if (thread == 0) {
      int count = 0, used = 0, least = walk[0];  // the smallest capacity that may be reached
      const int high = least / 32;
      while (count < most_grouped && count < left && used + high - least / 32 < choice_words) {
        low[count] = least / 32;
        offset[count] = used;
        used += high - least / 32 + 1;
        least = max(least - min(static_cast<int>(weight[count]), least), 0);
        ++count;
      }
      walk[1] = count;
    }
    __syncthreads();
    const int count = walk[1], high = walk[0] / 32;
    for (int item = 0; item < count; ++item)
      for (int word = low[item] + thread; word <= high; word += choice_threads)
        words[offset[item] + word - low[item]] =
            task.taken[static_cast<std::size_t>(left - 1 - item) * pitch +
                       static_cast<std::size_t>(word)];
    __syncthreads();
    if (thread == 0) {
      int capacity = walk[0];
      for (int item = 0; item < count; ++item) {
        const std::uint32_t word = words[offset[item] + capacity / 32 - low[item]];
        const bool is_taken = (word >> capacity % 32 & 1) != 0;
        chosen[left - 1 - item] = is_taken ? 1 : 0;
        if (is_taken) capacity -= weight[item];
      }
      walk[0] = capacity;
    }
    left -= count;
  }
}

constexpr std::string_view boyer =
    "Boyer, El Baz, Elkihel: Solving knapsack problems on GPU, 2012 (Parallel-Forward)";
constexpr std::string_view oconnell =
    "O'Connell, Mumford: An exact dynamic programming based method to solve optimisation problems "
    "using GPUs, 2014 (Parallel-Fair)";
constexpr std::string_view funasaka =
    "Funasaka, Nakano, Ito: Single Kernel Soft Synchronization Technique for Task Arrays on "
    "CUDA-enabled GPUs, with Applications, 2017";

template <int items_per_task, TaskSchedule schedule,
          bool by_words = schedule != TaskSchedule::steps>
KnapsackSolver strips(std::string_view id, std::string_view title, std::string_view source) {
  return engine_solver<KnapsackTask, KnapsackStrips<items_per_task, by_words>, schedule>(id, title,
                                                                                         source);
}

}  // namespace

std::span<const KnapsackSolver> knapsack_solvers() {
  using enum TaskSchedule;
  static const std::array solvers{
      own,
      strips<1, warps>("skss_warps", "SKSS: a warp per 32 capacities", funasaka),
      strips<1, blocks>("skss_blocks", "SKSS: a block per 32 capacities", funasaka),
      strips<1, resident_blocks>("skss_resident", "SKSS: as many blocks as run at a time",
                                 funasaka),
      strips<4, warps>("skss_warps:4", "SKSS: a warp per 32 capacities, 4 items per task",
                       funasaka),
      strips<1, warps, false>("skss_counters", "skss_warps with counters in place of words",
                              funasaka),
      strips<1, steps>("steps", "One launch per item", boyer),
      strips<2, steps>("steps:2", "One launch per anti-diagonal, 2 items per task", oconnell),
      strips<4, steps>("steps:4", "One launch per anti-diagonal, 4 items per task", oconnell),
      strips<8, steps>("steps:8", "One launch per anti-diagonal, 8 items per task", oconnell),
      strips<16, steps>("steps:16", "One launch per anti-diagonal, 16 items per task", oconnell),
      strips<32, steps>("steps:32", "One launch per anti-diagonal, 32 items per task", oconnell)};
  return solvers;
}

void enqueue_choice(const KnapsackTask& task, std::uint8_t* chosen, StreamHandle stream) {
  FACESAT_LAUNCH(choice_kernel, dim3(1), dim3(choice_threads), stream, task, chosen);
}

}  // namespace facesat::gpu
