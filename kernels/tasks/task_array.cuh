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
// edges: what a task needs besides its left neighbour; at most 32.
// shared_elements: of type Element; the shared memory of a task.
// Carried: what each thread hands on to the next task of the row.
// perform(): does task (i, j). `carried` is what the thread of the same rank left there in task
// (i, j - 1), or Carried{} in column 0. Results for other rows go to global memory. `team` are the
// threads of the task: team.rank is from 0 to threads - 1, team.sync() is a barrier, team[k] is
// element k of the shared memory, which is unwritten at the beginning of each task.
//
// Inputs that depend on no other task can be loaded ahead, while the task before is performed. Then
// the struct has, too,
//
//     struct Prepared { float pixel; };
//     template <class Team>
//     __device__ Prepared prepare(int i, int j, const Team& team) const;
//
// which uses no shared memory, and perform() gets its result after j: perform(i, j, prepared,
// carried, team).
//
// Which rows a task needs may depend on data: then the struct has, too,
//
//     __device__ void wait(int i, int j, int lane, FinishedTasks& finished) const;
//
// with the `prepared` of the thread after j if there is one. It is called by the 32 threads of the
// team's first warp, so that they can wait for different tasks: finished.wait(row, column) for what
// task (i, j) needs, and for nothing that `edges` does not allow: rows at least as far up, columns
// at most as far right.
//
// As in the paper, a flag per task may say that it is finished, in place of a counter per row. Then
// the struct has
//
//     static constexpr bool has_flags = true;
//
// Rows may hand values on in words that contain their own state, which saves the fence that has to
// come between values and the news that they are there, and half of the latency. Then the struct
// has
//
//     static constexpr bool hands_on_words = true;
//
// and perform() uses HandedOn<T, true> for everything that other rows read, and waits by reading.
//
// Source: Funasaka, Nakano, Ito 2017, sections III and IV.
// Departs from it in: a counter of finished tasks per row in place of one flag per task, unless the
// struct asks for flags; both contain the number of the launch, so that nothing is reset between
// launches. A row asks for the counter again only when the tasks that it last saw finished are not
// enough. Words with their state are ours.
#pragma once

#include <array>
#include <cstddef>
#include <type_traits>
#include <utility>

#include "kernels/device/soft_synchronization.cuh"
#include "kernels/tasks/task_array.hpp"

namespace facesat::gpu {

// The threads that perform a task, and their shared memory.
template <class Array, int teams>
struct TaskTeam {
  static constexpr int elements = Array::shared_elements > 0 ? Array::shared_elements : 1;
  using Memory = SharedArray<typename Array::Element, teams * elements>;

  int rank;   // of the calling thread
  int index;  // of the team in its block
  Memory& memory;
  unsigned epoch;  // the number of the launch, for HandedOn

  __device__ void sync() const {
    if constexpr (Array::threads == 32)
      __syncwarp();
    else
      __syncthreads();
  }
  __device__ decltype(auto) operator[](int k) const { return memory[index * elements + k]; }
};

// An array of values that rows hand on to each other, in global memory: as words with their state,
// whose reader waits for them, or as they are.
template <class T, bool as_words>
struct HandedOn {
  using Stored = std::conditional_t<as_words, Word, T>;
  Stored* values;
  std::ptrdiff_t size;  // elements

  static constexpr std::size_t bytes(std::ptrdiff_t size) {
    return static_cast<std::size_t>(size) * (as_words ? parts<T> : 1) * sizeof(Stored);
  }
  template <class Team>
  __device__ void write(const Team& team, std::ptrdiff_t i, T value) const {
    if constexpr (as_words)
      publish(values + i, size, team.epoch, inclusive_total, value);
    else
      values[i] = value;
  }
  template <class Team>
  __device__ T read(const Team& team, std::ptrdiff_t i) const {
    if constexpr (as_words)
      return wait_for<T>(values + i, size, team.epoch);
    else
      return values[i];
  }
  // Elements i + k * stride for the k below n that `exists` returns true for. All are loaded before
  // one is waited for.
  template <class Team, class Exists, int n>
  __device__ void read(const Team& team, std::ptrdiff_t i, std::ptrdiff_t stride, Exists exists,
                       T (&results)[n]) const {
    State state[n];
    FACESAT_UNROLL
    for (int k = 0; k < n; ++k) {
      state[k] = inclusive_total;
      if (!exists(k)) continue;
      if constexpr (as_words)
        state[k] = look(values + i + k * stride, size, team.epoch, results[k]);
      else
        results[k] = values[i + k * stride];
    }
    FACESAT_UNROLL
    for (int k = 0; k < n; ++k)
      if (state[k] != inclusive_total) results[k] = read(team, i + k * stride);
  }
};

// The numbers of finished tasks of each row: words with the number of the launch in the upper 32
// bits.
struct FinishedTasks {
  Word* words;
  unsigned epoch;
  int columns;
  int seen_row = -1, seen = 0;  // what the calling thread has seen last

  // Waits until the task is finished; for none in rows and columns that do not exist.
  __device__ void wait(int row, int column) {
    if (row < 0 || column < 0) return;
    const int needed = (column < columns ? column : columns - 1) + 1;
    if (row != seen_row) seen = 0;
    seen_row = row;
    while (seen < needed) {
      const Word word = load_acquire(words + row);
      if (static_cast<unsigned>(word >> 32) == epoch)
        seen = static_cast<int>(static_cast<unsigned>(word));
      if (seen < needed) pause();
    }
  }
  // Called by one thread, after team.sync().
  __device__ void publish(int row, int column) const {
    store_release(words + row, static_cast<Word>(epoch) << 32 | static_cast<unsigned>(column + 1));
  }
};

// A flag for each task: the number of the launch in which it was finished, plus 1.
struct FinishedFlags {
  Word* words;
  unsigned epoch;
  int columns;

  __device__ Word* flag(int row, int column) const {
    return words + static_cast<std::ptrdiff_t>(row) * columns + column;
  }
  __device__ void wait(int row, int column) const {
    if (row < 0 || column < 0) return;
    const Word* const needed = flag(row, column < columns ? column : columns - 1);
    while (load_acquire(needed) != epoch + 1) pause();
  }
  __device__ void publish(int row, int column) const {
    store_release(flag(row, column), epoch + 1);
  }
};

template <class Array>
constexpr bool has_flags() {
  if constexpr (requires { Array::has_flags; })
    return Array::has_flags;
  else
    return false;
}
template <class Array>
using FinishedFor = std::conditional_t<has_flags<Array>(), FinishedFlags, FinishedTasks>;

template <class Array>
constexpr bool hands_on_words() {
  if constexpr (requires { Array::hands_on_words; })
    return Array::hands_on_words;
  else
    return false;
}

// What prepare() returns, or nothing.
template <class Array>
struct Preparation {
  static constexpr bool exists = false;
  struct Result {};
};
template <class Array>
requires requires {
  typename Array::Prepared;
}
struct Preparation<Array> {
  static constexpr bool exists = true;
  using Result = typename Array::Prepared;
};
template <class Array>
using PreparedFor = typename Preparation<Array>::Result;

template <class Array, class Team>
__device__ __forceinline__ PreparedFor<Array> prepare(const Array& task, int i, int j,
                                                      const Team& team) {
  if constexpr (Preparation<Array>::exists)
    return task.prepare(i, j, team);
  else
    return {};
}

template <class Array, class Team>
__device__ __forceinline__ void perform(const Array& task, int i, int j,
                                        const PreparedFor<Array>& prepared,
                                        typename Array::Carried& carried, const Team& team) {
  if constexpr (Preparation<Array>::exists)
    task.perform(i, j, prepared, carried, team);
  else
    task.perform(i, j, carried, team);
}

// Called by the first 32 threads of a team.
template <class Array>
__device__ __forceinline__ void wait_for_edges(const Array& task, int i, int j,
                                               const PreparedFor<Array>& prepared, int lane,
                                               FinishedFor<Array>& finished) {
  if constexpr (requires { task.wait(i, j, prepared, lane, finished); }) {
    task.wait(i, j, prepared, lane, finished);
  } else if constexpr (requires { task.wait(i, j, lane, finished); }) {
    task.wait(i, j, lane, finished);
  } else {
    constexpr auto edges = Array::edges;  // device code has no static members
    static_assert(edges.size() <= 32);
    int edge = 0;
    for (const TaskEdge& e : edges)
      if (edge++ == lane) finished.wait(i - e.up, j + e.right);
  }
}

// Every team draws rows and performs their tasks from left to right.
template <class Array, int teams>
__global__ void __launch_bounds__(teams* Array::threads)
    skss_kernel(FACESAT_PARAMETER(Array) task, Header* header, Word* words) {
  using Team = TaskTeam<Array, teams>;
  __shared__ typename Team::Memory memory;
  __shared__ SharedArray<unsigned, teams> drawn;
  const int thread = static_cast<int>(threadIdx.x);
  const Team team{thread % Array::threads, thread / Array::threads, memory, header->epoch};
  FinishedFor<Array> finished{words, team.epoch, task.columns};
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
    typename Array::Carried carried{};
    PreparedFor<Array> prepared = prepare(task, row, 0, team);
    for (int column = 0; column < task.columns; ++column) {
      if constexpr (!hands_on_words<Array>()) {
        if (team.rank < 32) wait_for_edges(task, row, column, prepared, team.rank, finished);
        team.sync();
      }
      PreparedFor<Array> next{};
      if (column + 1 < task.columns) next = prepare(task, row, column + 1, team);
      perform(task, row, column, prepared, carried, team);
      team.sync();
      if (!hands_on_words<Array>() && team.rank == 0) finished.publish(row, column);
      prepared = next;
    }
  }
}

// Every team performs one task of the step. What threads hand on goes through global memory.
template <class Array, int teams>
__global__ void __launch_bounds__(teams* Array::threads)
    step_kernel(FACESAT_PARAMETER(Array) task, TaskStep step, int slope,
                typename Array::Carried* handed_on) {
  using Team = TaskTeam<Array, teams>;
  __shared__ typename Team::Memory memory;
  const int thread = static_cast<int>(threadIdx.x);
  // Words need no number of the launch, because steps come one after the other.
  const Team team{thread % Array::threads, thread / Array::threads, memory, 0};
  const int k = static_cast<int>(blockIdx.x) * teams + team.index;
  if (k >= step.count) return;
  const int row = step.first_row + k, column = step.first_column - slope * k;
  typename Array::Carried* const place =
      handed_on + static_cast<std::ptrdiff_t>(row) * Array::threads + team.rank;
  typename Array::Carried carried{};
  if (column > 0) carried = *place;
  perform(task, row, column, prepare(task, row, column, team), carried, team);
  *place = carried;
}

// Scratch memory of a schedule, as kernels/sat/algorithm.hpp has it: zero before the first use,
// left ready for the next one.
template <class Array>
std::size_t task_workspace_bytes(int rows, int columns, TaskSchedule schedule) {
  const auto count = static_cast<std::size_t>(rows);
  if (schedule == TaskSchedule::steps)
    return count * Array::threads * sizeof(typename Array::Carried);
  const std::size_t per_row = hands_on_words<Array>() ? 0
                              : has_flags<Array>()    ? static_cast<std::size_t>(columns)
                                                      : 1;
  return header_bytes + per_row * count * sizeof(Word);
}

// The number of launches of a schedule. Throws ArgumentError as enqueue_tasks() does.
template <class Array>
int task_launches(const Array& task, TaskSchedule schedule) {
  const int slope = slope_of(Array::edges);
  return schedule == TaskSchedule::steps ? steps_of(task.rows, task.columns, slope) : 1;
}

// Performs all tasks; allocates nothing, waits for nothing. Throws ArgumentError if no order of the
// tasks satisfies the edges, or if the schedule does not suit the task; CudaError.
template <class Array>
void enqueue_tasks(const Array& task, TaskSchedule schedule, void* workspace, StreamHandle stream) {
  const int slope = slope_of(Array::edges);
  constexpr bool by_warps = Array::threads == 32;
  constexpr int teams = by_warps ? 2 : 1;  // as many warps as a block needs for full occupancy
  const auto launch_rows = [&]<int per_block>(std::integral_constant<int, per_block>, int most) {
    const int blocks = std::min(divide_up(task.rows, per_block), most);
    FACESAT_LAUNCH((skss_kernel<Array, per_block>), dim3(static_cast<unsigned>(blocks)),
                   dim3(per_block * Array::threads), stream, task, static_cast<Header*>(workspace),
                   reinterpret_cast<Word*>(static_cast<std::byte*>(workspace) + header_bytes));
  };
  switch (schedule) {
    case TaskSchedule::steps:
      for (int s = 0; s < steps_of(task.rows, task.columns, slope); ++s) {
        const TaskStep step = task_step(s, task.rows, task.columns, slope);
        if (step.count == 0) continue;
        FACESAT_LAUNCH((step_kernel<Array, teams>),
                       dim3(static_cast<unsigned>(divide_up(step.count, teams))),
                       dim3(teams * Array::threads), stream, task, step, slope,
                       static_cast<typename Array::Carried*>(workspace));
      }
      return;
    case TaskSchedule::blocks:
      return launch_rows(std::integral_constant<int, 1>(), task.rows);
    case TaskSchedule::resident_blocks:
      return launch_rows(std::integral_constant<int, 1>(),
                         resident_blocks(skss_kernel<Array, 1>, Array::threads));
    case TaskSchedule::warps:
      require_warps(Array::threads);
      return launch_rows(std::integral_constant<int, teams>(), task.rows);
  }
}

// ---- solvers that are a task array and a schedule

// `Form::of(problem, memory)` is a problem as a task array, with Form::table_bytes(problem) bytes
// of device memory of its own, which lie in the workspace past the schedule's.
template <class Problem, class Form, TaskSchedule schedule>
TaskSolver<Problem> engine_solver(std::string_view id, std::string_view title,
                                  std::string_view source) {
  using Array = decltype(Form::of(std::declval<const Problem&>(), nullptr));
  static constexpr auto schedule_bytes = [](const Problem& problem) {
    const Array array = Form::of(problem, nullptr);
    return round_up_256(task_workspace_bytes<Array>(array.rows, array.columns, schedule));
  };
  return {.id = id,
          .title = title,
          .source = source,
          .workspace_bytes =
              [](const Problem& problem) {
                return schedule_bytes(problem) + Form::table_bytes(problem);
              },
          .launches =
              [](const Problem& problem) {
                return task_launches(Form::of(problem, nullptr), schedule);
              },
          .enqueue =
              [](const Problem& problem, void* workspace, StreamHandle stream) {
                void* const table = static_cast<std::byte*>(workspace) + schedule_bytes(problem);
                enqueue_tasks(Form::of(problem, table), schedule, workspace, stream);
              }};
}

}  // namespace facesat::gpu
