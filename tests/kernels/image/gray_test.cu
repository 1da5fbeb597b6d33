#include "core/cpu/gray.hpp"
#include "kernels/image/gray.hpp"
#include "tests/kit/device_memory.hpp"

namespace facesat::test {
namespace {

TEST(GrayKernel, EqualsTheCpu) {
  for (const Size size : {Size{1, 1}, {3, 2}, {4, 5}, {5, 4}, {255, 9}, {257, 3}, {640, 17}}) {
    const Image<std::uint8_t> bytes = noise({3 * size.width, size.height}, 7);
    Image<Bgr> frame(size);
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) {
        const std::uint8_t* p = bytes.row(y) + 3 * x;
        frame.row(y)[x] = {p[0], p[1], p[2]};
      }
    Image<std::uint8_t> expected(size);
    cpu::to_gray(frame.view(), expected.view());

    const int pitch = (size.width + 15) / 16 * 16;
    std::vector<Bgr> packed(static_cast<std::size_t>(pitch) * size.height, Bgr{1, 2, 3});
    copy(View<const Bgr>(frame.view()), View<Bgr>{packed.data(), size, pitch});
    DeviceArray<Bgr> input(packed);
    under_all_schedules([&] {
      DevicePicture<std::uint8_t> gray(size, 9);
      gpu::enqueue_gray(View<const Bgr>{input.data(), size, pitch}, gray.view(), test_stream());
      gray.expect(expected.view(), std::to_string(size.width) + "x" + std::to_string(size.height));
    });
  }
}

TEST(GrayKernel, IgnoresTheFourthByte) {
  for (const Size size : {Size{1, 1}, {3, 2}, {4, 5}, {257, 3}, {640, 17}}) {
    const Image<std::uint8_t> bytes = noise({4 * size.width, size.height}, 8);
    const int pitch = (size.width + 15) / 16 * 16;
    std::vector<Bgra> packed(static_cast<std::size_t>(pitch) * size.height, Bgra{1, 2, 3, 4});
    Image<Bgr> colour(size);
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) {
        const std::uint8_t* p = bytes.row(y) + 4 * x;
        packed[y * pitch + x] = {p[0], p[1], p[2], p[3]};
        colour.row(y)[x] = {p[0], p[1], p[2]};
      }
    Image<std::uint8_t> expected(size);
    cpu::to_gray(colour.view(), expected.view());
    DeviceArray<Bgra> input(packed);
    under_all_schedules([&] {
      DevicePicture<std::uint8_t> gray(size, 9);
      gpu::enqueue_gray(View<const Bgra>{input.data(), size, pitch}, gray.view(), test_stream());
      gray.expect(expected.view(), std::to_string(size.width) + "x" + std::to_string(size.height));
    });
  }
}

}  // namespace
}  // namespace facesat::test
