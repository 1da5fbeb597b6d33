// The 0-1 knapsack problem: the ways to solve it, and the items of the best choice.
#include <array>

#include "kernels/tasks/engine_solver.cuh"
#include "kernels/tasks/knapsack.hpp"
#include "kernels/tasks/knapsack_blocks.cuh"
#include "kernels/tasks/knapsack_strips.cuh"

namespace facesat::gpu {
namespace {

// ---- our own form

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
    return round_up_256(task_workspace_bytes<Blocks>(blocks(task).rows, TaskSchedule::blocks));
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
    .paper = "ours",
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
KnapsackSolver strips(std::string_view id, std::string_view title, std::string_view paper) {
  return engine_solver<KnapsackTask, KnapsackStrips<items_per_task, by_words>, schedule>(id, title,
                                                                                         paper);
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
