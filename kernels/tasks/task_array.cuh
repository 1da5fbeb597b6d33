// Runs a task array on a GPU: in steps, a launch each, or in a single launch whose rows wait for
// each other (single kernel soft synchronisation, SKSS).
//
// A task array is a struct that is copied to the kernels:
//
//   struct Example {
//     static constexpr int threads = 32;
//     static constexpr std::array edges{TaskEdge{1, 0}};
//     using Element = float;
//     static constexpr int shared_elements = 0;
//     struct Carried { float left = 0; };
//     int rows, columns;
//     template <class Team>
//     __device__ void perform(int i, int j, Carried& carried, const Team& team) const;
//   };
//
// threads: that perform a task together: 32, a warp, or a block of a multiple of 32.
// edges: what a task needs besides its left neighbour.
// shared_elements: of type Element; the shared memory of a task.
// Carried: what each thread hands on to the next task of the row.
// perform(): does task (i, j). `carried` is what the thread of the same rank left there in task
// (i, j - 1), or Carried{} in column 0. Results for other rows go to global memory. `team` are the
// threads of the task: team.rank is from 0 to threads - 1, team.sync() is a barrier, team[k] is
// element k of the shared memory, which is unwritten at the beginning of each task.
//
// Which rows a task needs may depend on data: then the struct has, too,
//
//     __device__ void wait(int i, int j, const FinishedTasks& finished) const;
//
// which calls finished.wait(row, column) for what task (i, j) needs, and for nothing that `edges`
// does not allow: rows at least as far up, columns at most as far right.
//
// Source: Funasaka, Nakano, Ito 2017, sections III and IV.
// Departs from it in: a counter of finished tasks per row in place of one flag per task; it
// contains the number of the launch, so that nothing is reset between launches.
#pragma once

#include <array>
#include <cstddef>
#include <type_traits>

#include "kernels/device/soft_synchronization.cuh"
#include "kernels/tasks/task_array.hpp"
#include "kernels/tasks/task_schedule.hpp"

namespace facesat::gpu {

// The threads that perform a task, and their shared memory.
template <class Task, int teams>
struct TaskTeam {
  static constexpr int elements = Task::shared_elements > 0 ? Task::shared_elements : 1;
  using Memory = SharedArray<typename Task::Element, teams * elements>;

  int rank;   // of the calling thread
  int index;  // of the team in its block
  Memory& memory;

  __device__ void sync() const {
    if constexpr (Task::threads == 32)
      __syncwarp();
    else
      __syncthreads();
  }
  __device__ decltype(auto) operator[](int k) const { return memory[index * elements + k]; }
};

// The numbers of finished tasks of each row: words with the number of the launch in the upper 32
// bits.
struct FinishedTasks {
  Word* words;
  unsigned epoch;
  int columns;

  // Waits until the task is finished; for none in rows and columns that do not exist.
  __device__ void wait(int row, int column) const {
    if (row < 0 || column < 0) return;
    const int last = column < columns ? column : columns - 1;
    for (;;) {
      const Word word = load_relaxed(words + row);
      if (static_cast<unsigned>(word >> 32) == epoch &&
          static_cast<int>(static_cast<unsigned>(word)) > last)
        return;
      pause();
    }
  }
  // Called by one thread, after team.sync().
  __device__ void publish(int row, int column) const {
    __threadfence();
    store_relaxed(words + row, static_cast<Word>(epoch) << 32 | static_cast<unsigned>(column + 1));
  }
};

template <class Task>
__device__ __forceinline__ void wait_for_edges(const Task& task, int i, int j,
                                               const FinishedTasks& finished) {
  if constexpr (requires { task.wait(i, j, finished); }) {
    task.wait(i, j, finished);
  } else {
    constexpr auto edges = Task::edges;  // device code has no static members
    for (const TaskEdge& edge : edges) finished.wait(i - edge.up, j + edge.right);
  }
  __threadfence();
}

// Every team draws rows and performs their tasks from left to right.
template <class Task, int teams>
__global__ void __launch_bounds__(teams* Task::threads)
    skss_kernel(FACESAT_PARAMETER(Task) task, Header* header, Word* words) {
  using Team = TaskTeam<Task, teams>;
  __shared__ typename Team::Memory memory;
  __shared__ SharedArray<unsigned, teams> drawn;
  const int thread = static_cast<int>(threadIdx.x);
  const Team team{thread % Task::threads, thread / Task::threads, memory};
  const FinishedTasks finished{words, header->epoch, task.columns};
  for (;;) {
    if (team.rank == 0) drawn[team.index] = atomicAdd(&header->ticket, 1u);
    team.sync();
    const int row = static_cast<int>(static_cast<unsigned>(drawn[team.index]));
    team.sync();
    if (row >= task.rows) {
      // Every team draws one ticket too many; the very last one prepares the header for the next
      // launch.
      if (team.rank == 0 && row + 1 == task.rows + static_cast<int>(gridDim.x) * teams) {
        header->ticket = 0;
        header->epoch = finished.epoch + 1;
      }
      return;
    }
    typename Task::Carried carried{};
    for (int column = 0; column < task.columns; ++column) {
      if (team.rank == 0) wait_for_edges(task, row, column, finished);
      team.sync();
      task.perform(row, column, carried, team);
      team.sync();
      if (team.rank == 0) finished.publish(row, column);
    }
  }
}

// Every team performs one task of the step. What threads hand on goes through global memory.
template <class Task, int teams>
__global__ void __launch_bounds__(teams* Task::threads)
    step_kernel(FACESAT_PARAMETER(Task) task, TaskStep step, int slope,
                typename Task::Carried* handed_on) {
  using Team = TaskTeam<Task, teams>;
  __shared__ typename Team::Memory memory;
  const int thread = static_cast<int>(threadIdx.x);
  const Team team{thread % Task::threads, thread / Task::threads, memory};
  const int k = static_cast<int>(blockIdx.x) * teams + team.index;
  if (k >= step.count) return;
  const int row = step.first_row + k, column = step.first_column - slope * k;
  typename Task::Carried* const place =
      handed_on + static_cast<std::ptrdiff_t>(row) * Task::threads + team.rank;
  typename Task::Carried carried{};
  if (column > 0) carried = *place;
  task.perform(row, column, carried, team);
  *place = carried;
}

// Scratch memory of a schedule, as kernels/sat/algorithm.hpp has it: zero before the first use,
// left ready for the next one.
template <class Task>
std::size_t task_workspace_bytes(int rows, TaskSchedule schedule) {
  const auto count = static_cast<std::size_t>(rows);
  if (schedule == TaskSchedule::steps)
    return count * Task::threads * sizeof(typename Task::Carried);
  return header_bytes + count * sizeof(Word);
}

// Performs all tasks; allocates nothing, waits for nothing. Throws ArgumentError if no order of the
// tasks satisfies the edges, or if the schedule does not suit the task; CudaError.
template <class Task>
void enqueue_tasks(const Task& task, TaskSchedule schedule, void* workspace, StreamHandle stream) {
  const int slope = slope_of(Task::edges);
  constexpr bool by_warps = Task::threads == 32;
  constexpr int teams = by_warps ? 2 : 1;  // as many warps as a block needs for full occupancy
  const auto launch_rows = [&]<int per_block>(std::integral_constant<int, per_block>, int most) {
    const int blocks = std::min(divide_up(task.rows, per_block), most);
    FACESAT_LAUNCH((skss_kernel<Task, per_block>), dim3(static_cast<unsigned>(blocks)),
                   dim3(per_block * Task::threads), stream, task, static_cast<Header*>(workspace),
                   reinterpret_cast<Word*>(static_cast<std::byte*>(workspace) + header_bytes));
  };
  switch (schedule) {
    case TaskSchedule::steps:
      for (int s = 0; s < steps_of(task.rows, task.columns, slope); ++s) {
        const TaskStep step = task_step(s, task.rows, task.columns, slope);
        if (step.count == 0) continue;
        FACESAT_LAUNCH((step_kernel<Task, teams>),
                       dim3(static_cast<unsigned>(divide_up(step.count, teams))),
                       dim3(teams * Task::threads), stream, task, step, slope,
                       static_cast<typename Task::Carried*>(workspace));
      }
      return;
    case TaskSchedule::blocks:
      return launch_rows(std::integral_constant<int, 1>(), task.rows);
    case TaskSchedule::resident_blocks:
      return launch_rows(std::integral_constant<int, 1>(),
                         resident_blocks(skss_kernel<Task, 1>, Task::threads));
    case TaskSchedule::warps:
      require_warps(Task::threads);
      return launch_rows(std::integral_constant<int, teams>(), task.rows);
  }
}

}  // namespace facesat::gpu
