#include "kernels/cascade/tile_pixels.hpp"

#include <set>

#include <gtest/gtest.h>

namespace facesat::test {
namespace {

// Every window begins with a word of a copy, and eight neighbours from where the copies begin anew
// read 32 words in 32 banks.
TEST(TilePixels, WindowsBeginWithWordsInDifferentBanks) {
  for (const int side : {20, 24})
    for (const int step : {1, 2}) {
      const gpu::TilePixels pixels = gpu::make_tile_pixels(
          gpu::window_bytes({side, side}), gpu::make_patch_layout({side, side}, step, 1, 40 << 10));
      ASSERT_GT(pixels.rows, 0);
      for (unsigned row : {0u, 5u})
        for (unsigned first = 0; first + 8 <= 32; first += 4u / static_cast<unsigned>(step)) {
          std::set<int> banks;
          for (unsigned column = first; column < first + 8; ++column) {
            const int word = pixels.word(column, row);
            const int in_row = word - static_cast<int>(row) * step * pixels.pitch;
            const int copy = in_row / pixels.copy_words();
            EXPECT_EQ(in_row % pixels.copy_words() * 4 + copy * step,
                      static_cast<int>(column) * step);
            for (int k = 0; k < 4; ++k) banks.insert((word + k * pixels.pitch) % 32);
          }
          EXPECT_EQ(banks.size(), 32u) << side << " " << step << " " << first;
        }
    }
}

}  // namespace
}  // namespace facesat::test
