// The kernels that fill and check pictures for SAT benchmarks, and that measure the floor (see
// docs/glossary.md).
#include "kernels/sat/pass.cuh"
#include "lab/problems/sat.hpp"
#include "tests/kit/device_memory.hpp"

namespace facesat::test {
namespace {

using gpu::SatTask;

// The number of wrong elements that the check finds in the tables of the task.
unsigned count_wrong(const SatTask& task) {
  DeviceArray<unsigned> wrong(std::vector<unsigned>{0});
  gpu::enqueue_check(task, wrong.data(), test_stream());
  return wrong.download().front();
}

template <class In, class Out>
void check(gpu::SatType type, Size size) {
  DevicePicture<In> input(size, In{});
  DevicePicture<Out> sum(size, Out{}), squares(size, Out{});
  const bool has_squares = sizeof(In) == 1;
  const SatTask task{.type = type,
                     .size = size,
                     .input = input.view().data,
                     .input_pitch = input.view().pitch,
                     .sum = sum.view().data,
                     .sum_pitch = sum.view().pitch,
                     .squared_sum = has_squares ? squares.view().data : nullptr,
                     .squared_pitch = squares.view().pitch};
  gpu::enqueue_fill(task, 7, test_stream());  // 7: the seed
  const Image<In> pixels = input.inside();
  EXPECT_GT(
      std::count_if(pixels.row(0), pixels.row(0) + size.width, [](In v) { return v != In{}; }), 0);

  gpu::enqueue_floor(task, test_stream());
  Image<Out> converted(size);
  for (int y = 0; y < size.height; ++y) std::copy_n(pixels.row(y), size.width, converted.row(y));
  sum.expect(converted.view(), "floor");
  if (has_squares) squares.expect(converted.view(), "floor, second table");

  // Uploads a correct table, but adds `error` to its last element, which is then the only wrong
  // one.
  const auto upload = [&](DevicePicture<Out>& table, bool of_squares, Out error) {
    Image<Out> right(size);
    for (int y = 0; y < size.height; ++y) {
      Out row{};
      for (int x = 0; x < size.width; ++x) {
        const Out v = static_cast<Out>(pixels.row(y)[x]);
        row += of_squares ? v * v : v;
        right.row(y)[x] = row + (y > 0 ? right.row(y - 1)[x] : Out{});
      }
    }
    right.row(size.height - 1)[size.width - 1] += error;
    table.upload(right.view());
  };
  upload(sum, false, Out{});
  upload(squares, true, Out{});
  EXPECT_EQ(count_wrong(task), 0u);
  upload(sum, false, Out{1});
  EXPECT_EQ(count_wrong(task), 1u);
  if (!has_squares) return;
  upload(squares, true, Out{1});
  EXPECT_EQ(count_wrong(task), 2u);
}

TEST(SatFloor, FillsConvertsAndChecks) {
  for (const gpu::SatTypeInfo& info : gpu::sat_types)
    gpu::visit_types(info.type, [&]<class In, class Out>(In, Out) {
      check<In, Out>(info.type, {301, 19});
    });
}

}  // namespace
}  // namespace facesat::test
