#include "kernels/cascade/patch_layout.hpp"

#include <gtest/gtest.h>

#include "kernels/cascade/evaluate.hpp"
#include "tests/kit/cascades.hpp"

namespace facesat::test {
namespace {

// Offsets of corners in a patch have 16 bits. So windows of more than 2^16 pixels, which LBP
// cascades may have, must be refused, and the patches of all others that are not refused must have
// offsets that fit.
TEST(PatchLayout, WindowsWhosePatchesAreTooLargeAreRefused) {
  Cascade cascade = half_cascade({12, 12}, 1, 1, 0);
  int accepted = 0;
  for (int width = 3; width <= 1'000'000; width += 1 + width / 3)
    for (int height = 3; height <= 1'000'000; height += 1 + height / 3) {
      if (static_cast<double>(width) * height > UINT32_MAX / 255) continue;  // no cascade has it
      cascade.window = {width, height};
      const bool refused = gpu::min_shared_bytes(cascade) > gpu::max_patch_bytes;
      EXPECT_TRUE(refused || cascade.window.area() <= 1 << 16) << width << " x " << height;
      if (refused) continue;
      ++accepted;
      for (const int step : {1, 2}) {
        const gpu::PatchLayout layout = gpu::make_patch_layout(cascade.window, step, 1, 0);
        EXPECT_LT(layout.word(width, height), 1 << 16) << width << " x " << height;
      }
    }
  EXPECT_GT(accepted, 100);
}

}  // namespace
}  // namespace facesat::test
