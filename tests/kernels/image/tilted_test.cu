#include "core/cpu/integral.hpp"
#include "kernels/image/tilted.hpp"
#include "tests/kit/device_memory.hpp"

namespace facesat::test {
namespace {

void compare(Size size) {
  const Image<std::uint8_t> picture = noise(size, 4);
  Table expected;
  expected.resize(size);
  cpu::tilted_integral(picture.view(), expected.view());
  DevicePicture<std::uint8_t> input(size, 77);
  input.upload(picture.view());
  under_all_schedules([&] {
    DevicePicture<std::uint32_t> tilted(size, 0);
    // Cones reach in from column -1, so the kernel may write that column.
    for (int y = 0; y < size.height; ++y) tilted.allow_before_row(y, expected.view().row(y)[-1]);
    tilted.clear();
    gpu::enqueue_tilted(input.view(), tilted.view(), test_stream());
    tilted.expect(expected.view(), std::to_string(size.width) + "x" + std::to_string(size.height));
  });
}

TEST(TiltedKernel, EqualsTheCpu) {
  for (const Size size : {Size{1, 1}, {1, 70}, {70, 1}, {31, 33}, {33, 31}, {65, 129}, {130, 64}})
    compare(size);
  if (on_gpu)
    for (const Size size : {Size{1919, 1079}, {97, 5011}, {5011, 97}, {640, 2300}}) compare(size);
}

}  // namespace
}  // namespace facesat::test
