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
#pragma once

#include "kernels/tasks/knapsack_strips.cuh"

namespace facesat::gpu {

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

}  // namespace facesat::gpu
