// A device that is lost while images are searched. Needs a GPU.
#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "facesat.hpp"
#include "kernels/device/cuda.hpp"
#include "tests/kit/pictures.hpp"
#include "tests/kit/printers.hpp"

namespace facesat::test {
namespace {

// Breaks the device for this process: from now on all of CUDA's functions return an error.
__global__ void trap() {
  asm volatile("trap;");
}

std::vector<Rect> boxes_in(const Detector& detector, const Image<std::uint8_t>& picture) {
  return boxes(detector.detect(image_view(picture.view())).faces);
}

// Returns how many of the images had a wrong result, or could not be searched.
int wrong_after_loss(const Detector& detector, const Detector& on_cpu) {
  constexpr int threads = 12, images_each = 30, lost_after = 100;
  std::vector<Image<std::uint8_t>> pictures;
  std::vector<std::vector<Rect>> expected;
  for (int i = 0; i < 3; ++i) {
    pictures.push_back(drawn_faces({300 + 60 * i, 130}));
    expected.push_back(boxes_in(on_cpu, pictures.back()));
  }
  std::atomic<int> begun = 0, right = 0;
  std::vector<std::jthread> all;
  for (int t = 0; t < threads; ++t)
    all.emplace_back([&, t] {
      for (int i = 0; i < images_each; ++i) {
        if (++begun == lost_after) trap<<<1, 1>>>();
        const int which = (i + t) % 3;
        try {
          right += boxes_in(detector, pictures[which]) == expected[which];
        } catch (const Error&) {  // counts as wrong
        }
      }
    });
  all.clear();
  return threads * images_each - right;
}

// In a process of its own, which ends with 0 if all is right.
[[noreturn]] void lose_a_device() {
  const Detector on_cpu("frontalface_default", {}, {.choice = BackendChoice::cpu});
  const Detector detector("frontalface_default", {}, {.choice = BackendChoice::automatic});
  const bool began_on_gpu = detector.on_gpu();
  const int wrong = wrong_after_loss(detector, on_cpu);
  for (const std::string& sentence : detector.failures())
    std::fprintf(stderr, "%s\n", sentence.c_str());
  std::_Exit(began_on_gpu && wrong == 0 && detector.failures().size() == 1 ? 0 : 1);
}

TEST(LostDevice, LosesNoImage) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(lose_a_device(), ::testing::ExitedWithCode(0), "the CPU goes on with its pictures");
}

}  // namespace
}  // namespace facesat::test
