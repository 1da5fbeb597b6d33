// The 0-1 knapsack problem as a task array: a warp computes 32 capacities of one item, or of
// several items one after the other.
//
// Shapes: task (i, j) computes V for capacities 32 i to 32 i + 31 and items k j to k j + k - 1;
// lane
//   l has capacity 32 i + l. With k = 1 the array is forward (V. Boyer, D. El Baz, M. Elkihel,
//   "Solving knapsack problems on GPU", Computers and Operations Research 39, 2012), with more it
//   is fair (J. F. O'Connell, C. L. Mumford, "An exact dynamic programming based method to solve
//   optimisation problems using GPUs", CANDAR 2014).
// Reads and writes per entry of V: 1 / 1, and one bit for the choice.
// Source: Funasaka, Nakano, Ito 2017, section V-A.
#pragma once

#include "kernels/device/warp.cuh"
#include "kernels/tasks/knapsack.hpp"
#include "kernels/tasks/task_array.cuh"

namespace facesat::gpu {

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

}  // namespace facesat::gpu
