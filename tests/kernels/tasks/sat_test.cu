// Integral images as a task array: the schedules that the registry of SATs does not test.
#include <random>
#include <string>
#include <vector>

#include "kernels/tasks/sat.hpp"
#include "tests/kit/device_memory.hpp"

namespace facesat::test {
namespace {

// Small whole numbers, whose sums are exact in any order. Twice on one workspace, with a poisoned
// table and guards around it.
void check(Size size) {
  Image<float> picture(size), expected(size);
  std::mt19937 random(static_cast<unsigned>(size.width + size.height));
  std::vector<float> columns(static_cast<std::size_t>(size.width));
  for (int y = 0; y < size.height; ++y) {
    float sum = 0;
    for (int x = 0; x < size.width; ++x) {
      picture.row(y)[x] = static_cast<float>(random() % 3);
      columns[static_cast<std::size_t>(x)] += picture.row(y)[x];
      expected.row(y)[x] = sum += columns[static_cast<std::size_t>(x)];
    }
  }
  DevicePicture<float> input(size, 0), table(size, 0);
  input.upload(picture.view());
  const gpu::SatTask task{.type = gpu::SatType::f32_f32,
                          .size = size,
                          .input = input.view().data,
                          .input_pitch = input.view().pitch,
                          .sum = table.view().data,
                          .sum_pitch = table.view().pitch};
  for (const gpu::SatSolver& solver : gpu::sat_solvers()) {
    DeviceArray<std::byte> workspace(std::vector<std::byte>(solver.workspace_bytes(task)));
    for (int run = 0; run < 2; ++run) {
      table.clear();
      solver.enqueue(task, workspace.data(), test_stream());
      table.expect(expected.view(), std::string(solver.id) + ", " + std::to_string(size.width) +
                                        " x " + std::to_string(size.height) + ", run " +
                                        std::to_string(run));
    }
  }
}

TEST(TaskSat, SchedulesGiveTheTableOfTheDefinition) {
  under_all_schedules([] {
    for (const Size size : {Size{1, 1}, {31, 33}, {32, 64}, {97, 65}, {200, 31}}) check(size);
  });
  if (on_gpu) check({1919, 1079});
}

}  // namespace
}  // namespace facesat::test
