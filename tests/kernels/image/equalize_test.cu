#include "core/cpu/gray.hpp"
#include "kernels/image/gray.hpp"
#include "tests/kit/device_memory.hpp"

namespace facesat::test {
namespace {

void compare(const Image<std::uint8_t>& picture, const char* what) {
  Image<std::uint8_t> expected(picture.size());
  cpu::equalize(picture.view(), expected.view());
  under_all_schedules([&] {
    DevicePicture<std::uint8_t> gray(picture.size(), 0);
    DeviceArray<std::uint32_t> workspace(std::vector<std::uint32_t>(gpu::equalize_workspace_words));
    for (int round = 0; round < 2; ++round) {  // the workspace is used twice
      gray.upload(picture.view());
      gpu::enqueue_equalize(gray.view(), workspace.data(), test_stream());
      gray.expect(expected.view(), what);
    }
  });
}

// Noise of the values low .. high - 1.
Image<std::uint8_t> between(Size size, unsigned seed, int low, int high) {
  Image<std::uint8_t> picture = noise(size, seed);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x)
      picture.row(y)[x] = static_cast<std::uint8_t>(low + picture.row(y)[x] % (high - low));
  return picture;
}

TEST(EqualizeKernel, EqualsTheCpu) {
  compare(noise({300, 21}, 1), "noise");
  compare(between({97, 33}, 2, 60, 61), "one value");
  compare(between({97, 33}, 3, 0, 1), "black");
  compare(between({97, 33}, 4, 255, 256), "white");
  compare(between({130, 9}, 5, 31, 34), "values on both sides of a warp's");
  compare(between({1, 1}, 6, 9, 10), "one pixel");
  compare(between({200, 17}, 7, 3, 90), "dark");
  if (on_gpu) compare(noise({1919, 1079}, 8), "large");
}

}  // namespace
}  // namespace facesat::test
