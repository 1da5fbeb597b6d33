// Task arrays: what edges mean, and that every schedule performs every task once, after those that
// it needs.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "facesat.hpp"
#include "kernels/tasks/edit_distance.cuh"
#include "kernels/tasks/task_array.cuh"
#include "tests/kit/device_memory.hpp"
#include "tests/kit/messages.hpp"

namespace facesat::test {
namespace {

using gpu::TaskArrayKind;
using gpu::TaskEdge;
using gpu::TaskSchedule;

using Edges = std::vector<TaskEdge>;

TEST(TaskArray, EdgesMakeItForwardFairOrBackward) {
  const auto expect = [](const Edges& edges, TaskArrayKind kind, int slope) {
    EXPECT_EQ(gpu::kind_of(edges), kind);
    EXPECT_EQ(gpu::slope_of(edges), slope);
  };
  expect({}, TaskArrayKind::forward, 0);
  expect({{1, -1}, {3, -2}}, TaskArrayKind::forward, 0);
  expect({{1, 0}}, TaskArrayKind::fair, 1);
  expect({{1, -1}, {2, 0}}, TaskArrayKind::fair, 1);
  expect({{1, 1}}, TaskArrayKind::backward, 2);
  expect({{1, 1}, {1, 2}}, TaskArrayKind::backward, 3);  // error collection
  expect({{2, 2}}, TaskArrayKind::backward, 2);
}

TEST(TaskArray, EdgesFromRowsThatAreNotFurtherUpAreRefused) {
  for (const TaskEdge edge : {TaskEdge{0, 1}, {0, 0}, {0, -1}, {-1, 0}, {-1, -5}}) {
    const auto slope = [edge] { gpu::slope_of(Edges{{1, 0}, edge}); };
    EXPECT_TRUE(has(message_of<ArgumentError>(slope), "from a row further up"))
        << edge.up << ", " << edge.right;
  }
  EXPECT_THROW(gpu::run_vertically(2, 2, Edges{{1, 1}}, [](int, int) {}), ArgumentError);
}

// An array of error collection has the steps that the paper counts: for n x n pixels, 4 n / 32 - 1.
TEST(TaskArray, StepsAreThoseOfThePaper) {
  EXPECT_EQ(gpu::steps_of(4, 6, gpu::slope_of(Edges{{1, 1}, {1, 2}})), 15);  // figure 11
  EXPECT_EQ(gpu::steps_of(4, 6, gpu::slope_of(Edges{{1, 0}})), 9);           // figure 4
  EXPECT_EQ(gpu::steps_of(4, 6, gpu::slope_of(Edges{{1, -1}})), 6);          // figure 3
}

TEST(TaskArray, OrdersOnTheHostPerformEveryTaskOnceAfterThoseThatItNeeds) {
  for (const Edges& edges :
       {Edges{}, Edges{{1, -1}}, Edges{{1, 0}, {2, -3}}, Edges{{1, 2}}, Edges{{3, 1}, {1, -2}}})
    for (const auto& [rows, columns] : {std::pair{1, 1}, {1, 5}, {5, 1}, {7, 4}, {4, 9}}) {
      std::vector<int> performed(static_cast<std::size_t>(rows * columns));
      const auto count = [&](int i, int j) -> int& {
        return performed[static_cast<std::size_t>(i * columns + j)];
      };
      const auto perform = [&, width = columns](int i, int j) {
        ++count(i, j);
        for (int k = 0; k < j; ++k) EXPECT_EQ(count(i, k), 1);
        for (const TaskEdge& edge : edges)
          for (int k = 0; i >= edge.up && k <= std::min(j + edge.right, width - 1); ++k)
            EXPECT_EQ(count(i - edge.up, k), 1) << i << ", " << j << " needs column " << k;
      };
      const auto expect_all = [&] {
        EXPECT_EQ(std::count(performed.begin(), performed.end(), 1), rows * columns);
        std::fill(performed.begin(), performed.end(), 0);
      };
      gpu::run_horizontally(rows, columns, perform);
      expect_all();
      gpu::run_in_steps(rows, columns, edges, perform);
      expect_all();
      if (gpu::kind_of(edges) == TaskArrayKind::backward) continue;
      gpu::run_vertically(rows, columns, edges, perform);
      expect_all();
    }
}

__host__ __device__ constexpr std::uint32_t mix(std::uint32_t a, std::uint32_t b) {
  return (a ^ b * 0x9E3779B1u) * 0x85EBCA77u + (a >> 13) + 1;
}

// Every thread mixes what it carries with the results of all edges; what it carries on goes through
// another thread of the team, by shared memory. With `by_data`, the row above that a task needs
// depends on the column.
template <int team_threads, int up, int right, bool by_data = false, bool by_flags = false>
struct Mix {
  static constexpr bool has_flags = by_flags;
  static constexpr int threads = team_threads;
  static constexpr std::array edges{TaskEdge{up, right}};
  using Element = std::uint32_t;
  static constexpr int shared_elements = team_threads;
  struct Carried {
    std::uint32_t value = 7;
  };
  int rows, columns;
  std::uint32_t* results;  // of each thread of each task

  __host__ __device__ static int rows_up(int column) { return by_data ? up + column % 3 : up; }
  __host__ __device__ std::ptrdiff_t place(int i, int j, int rank) const {
    return (static_cast<std::ptrdiff_t>(i) * columns + j) * threads + rank;
  }
  template <class Finished>
  __device__ void wait(int i, int j, int lane, Finished& finished) const {
    if (lane == j % 32) finished.wait(i - rows_up(j), j + right);
  }
  template <class Team>
  __device__ void perform(int i, int j, Carried& carried, const Team& team) const {
    const int above = i - rows_up(j), column = min(j + right, columns - 1);
    std::uint32_t value = mix(carried.value, static_cast<std::uint32_t>(team.rank));
    if (above >= 0 && column >= 0)
      value = mix(value, results[place(above, column, (team.rank + 5) % threads)]);
    results[place(i, j, team.rank)] = value;
    team[team.rank] = value;
    team.sync();
    carried.value = team[(team.rank + 1) % threads];
    team.sync();
  }

  // All results, by the definition.
  std::vector<std::uint32_t> expected() const {
    std::vector<std::uint32_t> all(static_cast<std::size_t>(place(rows, 0, 0)));
    const auto at = [&](int i, int j, int rank) -> std::uint32_t& {
      return all[static_cast<std::size_t>(place(i, j, rank % threads))];
    };
    gpu::run_horizontally(rows, columns, [&](int i, int j) {
      for (int rank = 0; rank < threads; ++rank) {
        const int above = i - rows_up(j), column = std::min(j + right, columns - 1);
        std::uint32_t value =
            mix(j > 0 ? at(i, j - 1, rank + 1) : Carried{}.value, static_cast<std::uint32_t>(rank));
        if (above >= 0 && column >= 0) value = mix(value, at(above, column, rank + 5));
        at(i, j, rank) = value;
      }
    });
    return all;
  }
};

// Twice on one workspace, with results poisoned before and guards past their end.
template <class Task>
void check(int rows, int columns) {
  Task task{rows, columns, nullptr};
  const std::vector<std::uint32_t> expected = task.expected();
  std::vector<std::uint32_t> poison(expected.size() + 16, 0xDEADBEEF);
  DeviceArray<std::uint32_t> results(poison);
  for (const gpu::TaskScheduleInfo& info : gpu::task_schedules) {
    if (info.schedule == TaskSchedule::warps && Task::threads > 32) continue;
    const std::size_t bytes = gpu::task_workspace_bytes<Task>(rows, columns, info.schedule);
    twice_with_a_workspace(bytes, [&](std::byte* workspace) {
      results.upload(poison);
      task.results = results.data();
      gpu::enqueue_tasks(task, info.schedule, workspace, test_stream());
      const std::vector<std::uint32_t> all = results.download();
      EXPECT_TRUE(std::equal(expected.begin(), expected.end(), all.begin()))
          << info.id << ", " << rows << " x " << columns;
      EXPECT_EQ(std::count(all.end() - 16, all.end(), 0xDEADBEEF), 16) << info.id;
    });
  }
}

TEST(TaskArray, SchedulesPerformEveryTaskAfterThoseThatItNeeds) {
  under_all_schedules([] {
    for (const auto& [rows, columns] : {std::pair{1, 1}, {1, 7}, {9, 1}, {5, 6}, {11, 3}}) {
      check<Mix<32, 1, -1>>(rows, columns);
      check<Mix<32, 1, 0>>(rows, columns);
      check<Mix<32, 1, 2>>(rows, columns);
      check<Mix<32, 2, 1, true>>(rows, columns);
      check<Mix<64, 1, 0>>(rows, columns);
      check<Mix<96, 1, 1>>(rows, columns);
      check<Mix<32, 1, 2, false, true>>(rows, columns);
      check<Mix<64, 2, 1, true, true>>(rows, columns);
    }
  });
}

#if defined(FACESAT_SIMT)

// The paper's WrongSoftSynchronization (section IV): rows are those of the blocks' numbers, and not
// drawn from a counter.
__global__ void wrong_kernel(gpu::Word* flags, int columns) {
  const int row = static_cast<int>(blockIdx.x);
  const gpu::FinishedFlags finished{flags, 0, columns};
  for (int column = 0; column < columns; ++column) {
    finished.wait(row - 1, column);
    finished.publish(row, column);
  }
}

// It works as long as blocks start in the order of their numbers, or all at once, which nothing
// guarantees. If later ones fill the GPU, they wait for ever for one that cannot start.
TEST(TaskArray, WrongSoftSynchronizationDeadlocks) {
  constexpr int rows = 6, columns = 3;
  const auto run = [&](const simt::Schedule& schedule) {
    simt::set_schedule(schedule);
    std::vector<gpu::Word> flags(rows * columns);
    gpu::Word* const words = flags.data();
    FACESAT_LAUNCH(wrong_kernel, dim3(rows), dim3(1), test_stream(), words, columns);
    EXPECT_EQ(std::count(flags.begin(), flags.end(), 1u), rows * columns);
  };
  run({simt::Order::forward, 1, 1});
  run({simt::Order::random, 1, rows});
  EXPECT_TRUE(has(message_of<simt::Undefined>([&] {
                    run({simt::Order::reverse, 1, 1});
                  }),
                  "block (5, 0) waits for something that never comes: blocks that have not started "
                  "cannot help it"));
  simt::set_schedule({});
  check<Mix<32, 1, 0>>(rows, columns);  // what was unwound leaves nothing behind
}

#endif

TEST(TaskArray, SchedulesThatDoNotSuitTheTaskAreRefused) {
  std::vector<std::byte> workspace(1 << 12);
  EXPECT_THROW(gpu::enqueue_tasks(Mix<64, 1, 0>{2, 2, nullptr}, TaskSchedule::warps,
                                  workspace.data(), test_stream()),
               ArgumentError);
  // Each task needs the one to its right, and the one to its left.
  for (const gpu::TaskScheduleInfo& info : gpu::task_schedules)
    EXPECT_THROW(gpu::enqueue_tasks(Mix<32, 0, 1>{2, 2, nullptr}, info.schedule, workspace.data(),
                                    test_stream()),
                 ArgumentError);
}

int edit_distance(const std::string& a, const std::string& b) {
  std::vector<int> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (const char c : a) {
    int corner = row[0]++;
    for (std::size_t x = 0; x < b.size(); ++x) {
      const int replaced = corner + (c != b[x]);
      corner = row[x + 1];
      row[x + 1] = std::min({corner + 1, row[x] + 1, replaced});
    }
  }
  return row.back();
}

std::string letters(std::size_t length, unsigned seed) {
  std::mt19937 random(seed);
  std::string text(length, ' ');
  for (char& c : text) c = static_cast<char>('a' + random() % 3);
  return text;
}

TEST(TaskArray, EditDistanceIsThatOfItsDefinition) {
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3);
  under_all_schedules([] {
    for (const auto& [m, n] :
         {std::pair{1, 1}, {31, 33}, {32, 32}, {33, 64}, {97, 130}, {200, 1}}) {
      const std::string a = letters(m, 1), b = letters(n, 2);
      DeviceArray<char> a_on_device({a.begin(), a.end()}), b_on_device({b.begin(), b.end()});
      const int rows = divide_up(m, 32);
      DeviceArray<int> bottom(std::vector<int>(static_cast<std::size_t>(rows * n), -7));
      DeviceArray<int> distance({-7});
      for (const gpu::TaskScheduleInfo& info : gpu::task_schedules) {
        DeviceArray<std::byte> workspace(std::vector<std::byte>(
            gpu::task_workspace_bytes<gpu::EditDistance>(rows, divide_up(n, 32), info.schedule)));
        distance.upload({-7});
        gpu::enqueue_tasks(gpu::EditDistance{a_on_device.data(), b_on_device.data(), m, n,
                                             bottom.data(), distance.data()},
                           info.schedule, workspace.data(), test_stream());
        EXPECT_EQ(distance.download()[0], edit_distance(a, b)) << info.id << ", " << m << ", " << n;
      }
    }
  });
}

}  // namespace
}  // namespace facesat::test
