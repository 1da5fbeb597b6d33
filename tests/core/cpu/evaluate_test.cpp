#include "core/cpu/evaluate.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/kit/cascades.hpp"
#include "tests/kit/compare.hpp"
#include "tests/kit/instruction_sets.hpp"
#include "tests/kit/pictures.hpp"
#include "tests/kit/printers.hpp"
#include "tests/kit/reference.hpp"

namespace facesat::test {
namespace {

// A picture as a tile that covers a whole level. Before, the tables held another, larger tile of
// noise, whose sums must not matter.
class OneTile {
 public:
  OneTile(const Cascade& cascade, View<const std::uint8_t> picture, int step)
      : shape_(cpu::tile_shape(cascade, {picture.size.width + 37, picture.size.height + 29})),
        tables_(shape_),
        evaluator_(cpu::make_evaluator(cascade, shape_)) {
    level.size = picture.size;
    level.step = step;
    level.grid = {(picture.size.width - cascade.window.width) / step + 1,
                  (picture.size.height - cascade.window.height) / step + 1};
    const Image<std::uint8_t> around = noise(shape_.pixels, 99);
    tables_.build(around.view(), {}, 3 - step);  // the earlier tile, with the other step
    tile_ = tables_.build(picture, level.grid, step);
  }

  std::vector<Window> scan(Scan order) const {
    std::vector<std::uint8_t> skips(level.grid.height);
    cpu::EvaluationMemory memory;
    std::vector<cpu::Survivor> found;
    StopMeter meter;
    evaluator_->find_windows(tile_, order == Scan::opencv, skips.data(), memory, found, meter);
    std::vector<Window> windows;
    for (const cpu::Survivor& c : found)
      // 5: an arbitrary number for the level.
      windows.push_back({5, c.column * level.step, c.row * level.step, c.score});
    std::sort(windows.begin(), windows.end(), [](const Window& a, const Window& b) {
      return std::pair(a.y, a.x) < std::pair(b.y, b.x);
    });
    return windows;
  }

  Image<std::uint32_t> depths() const {
    Image<std::uint32_t> result(level.grid);
    StopMeter meter;
    for (int row = 0; row < level.grid.height; ++row)
      evaluator_->depths(tile_, row, result.row(row), meter);
    return result;
  }

  Level level;

 private:
  cpu::TileShape shape_;
  cpu::TileTables tables_;
  cpu::Tile tile_;
  std::unique_ptr<cpu::Evaluator> evaluator_;
};

std::vector<Window> scan(const Cascade& cascade, View<const std::uint8_t> picture, Scan order) {
  return OneTile(cascade, picture, 1).scan(order);
}

// ---- random cascades ----------------------------------------------------------------------------

class Evaluate : public ::testing::TestWithParam<NamedShape> {};

// Pictures in which some windows have low variance (a standard deviation below 10). The last one
// has more windows per row than are evaluated together.
std::vector<Image<std::uint8_t>> pictures(unsigned seed) {
  std::vector<Image<std::uint8_t>> all;
  all.push_back(noise({41, 33}, seed));
  all.push_back(noise({40, 34}, seed, 100, 135));
  all.push_back(clouds({47, 31}, seed, 3));
  all.push_back(flat({30, 30}, 77));
  all.push_back(clouds({290 + static_cast<int>(seed), 17}, seed, 2));
  return all;
}

TEST_P(Evaluate, EqualsTheReference) {
  std::size_t found = 0;
  const CascadeShape& shape = GetParam().shape;
#ifdef __SANITIZE_ADDRESS__
  constexpr unsigned seeds_of_large = 1;
#else
  constexpr unsigned seeds_of_large = 3;
#endif
  // The reference is slow.
  const unsigned seeds = shape.tree_factor * shape.max_nodes > 50 ? seeds_of_large : 25;
  for (unsigned seed = 0; seed < seeds; ++seed) {
    const Cascade cascade = random_cascade(seed, shape);
    for (const Image<std::uint8_t>& picture : pictures(seed))
      for (const int step : {1, 2}) {
        SCOPED_TRACE(seed);
        const OneTile one(cascade, picture.view(), step);
        EXPECT_TRUE(same(one.depths().view(),
                         reference::depths(cascade, picture.view(), one.level).view()));
        for (const Scan order : {Scan::opencv, Scan::dense}) {
          auto expected = reference::windows(cascade, picture.view(), one.level, 5, order);
          for (Window& window : expected) window.box = {};
          on_every_instruction_set([&] { EXPECT_EQ(one.scan(order), expected); });
          found += expected.size();
        }
      }
  }
  EXPECT_GT(found, 1000u);  // otherwise the comparison says little
}

INSTANTIATE_TEST_SUITE_P(Random, Evaluate, ::testing::ValuesIn(cascade_shapes),
                         ::testing::PrintToStringParamName());

// Trees larger than vectors have room for, and stages so long that survivors are gathered twice.
constexpr NamedShape large_shapes[] = {
    {"LargeTrees", {.max_nodes = 40}},
    {"LargestTrees", {.max_nodes = max_tree_nodes}},
    {"LargestLbpTrees", {.kind = FeatureKind::lbp, .max_nodes = max_tree_nodes}},
    {"LongStages", {.tree_factor = 90}},
    {"LongTiltedTrees", {.tilted = true, .max_nodes = 3, .tree_factor = 60}},
    {"LongLbp", {.kind = FeatureKind::lbp, .tree_factor = 90}},
};
INSTANTIATE_TEST_SUITE_P(Large, Evaluate, ::testing::ValuesIn(large_shapes),
                         ::testing::PrintToStringParamName());

// Stages with so many stumps that windows are evaluated one after the other.
TEST(EvaluateRules, StagesTooLongForVectorsEqualTheReference) {
  std::size_t found = 0;
  for (const FeatureKind kind : {FeatureKind::haar, FeatureKind::lbp})
    for (unsigned seed = 0; seed < 3; ++seed) {
      const Cascade cascade = random_cascade(seed, {.kind = kind, .tree_factor = 5000});
      ASSERT_GT(cascade.nodes.size(), 10'000u);
      const Image<std::uint8_t> picture = clouds({22, 17}, seed, 2);
      const OneTile one(cascade, picture.view(), 1);
      auto expected = reference::windows(cascade, picture.view(), one.level, 5, Scan::opencv);
      for (Window& window : expected) window.box = {};
      on_every_instruction_set([&] { EXPECT_EQ(one.scan(Scan::opencv), expected); });
      found += expected.size();
    }
  EXPECT_GT(found, 10u);
}

// ---- single rules -------------------------------------------------------------------------------

// Columns alternate between 0 and 255, so that the halves of a window have equal sums if their
// width is even, and no window has low variance.
Image<std::uint8_t> balanced(Size size) {
  return formula<std::uint8_t>(size, [](int x, int) { return x % 2 ? 255 : 0; });
}

constexpr Size window8{8, 8};

// In a picture of 20 x 9 pixels, a window of 8 x 8 has 13 x 2 positions.
TEST(EvaluateRules, AValueEqualToTheThresholdGoesRight) {
  const Image<std::uint8_t> picture = balanced({20, 9});
  EXPECT_EQ(scan(half_cascade(window8, 0, 1, 1), picture.view(), Scan::dense).size(), 13u * 2);
  EXPECT_EQ(scan(half_cascade(window8, 1, 0, 1), picture.view(), Scan::dense).size(), 0u);
}

// The value that a node compares with its threshold, for a feature with weight -1 on the left half
// of the window and weight 1 on the right half. Every operation has the precision of OpenCV's.
float half_value(View<const std::uint8_t> window) {
  const auto [w, h] = window.size;
  std::int64_t halves = 0, sum = 0, squares = 0;
  for (int y = 0; y < h; ++y)
    for (int x = 0; x < w; ++x) {
      const std::int64_t v = window.row(y)[x];
      halves += x < w / 2 ? -v : v;
      if (x == 0 || y == 0 || x == w - 1 || y == h - 1) continue;
      sum += v;
      squares += v * v;
    }
  const double spread = static_cast<double>((w - 2) * (h - 2) * squares - sum * sum);
  return static_cast<float>(halves) * static_cast<float>(1.0 / std::sqrt(spread));
}

// The threshold is the value itself: even the smallest rounding error would send some of these
// windows left, and any other precision changes the value of half of them.
TEST(EvaluateRules, ValuesAreRoundedAsInOpenCv) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    const Image<std::uint8_t> picture = noise(window8, seed);
    Cascade cascade = half_cascade(window8, 0, 1, 1);  // the right leaf passes
    cascade.haar[0].parts = {{{{0, 0, 4, 8}, -1}, {{4, 0, 4, 8}, 1}, {}}};
    cascade.nodes[0].threshold = half_value(picture.view());
    EXPECT_EQ(scan(cascade, picture.view(), Scan::dense).size(), 1u) << seed;
    cascade.nodes[0].threshold = std::nextafter(cascade.nodes[0].threshold, 1e9f);
    EXPECT_EQ(scan(cascade, picture.view(), Scan::dense).size(), 0u) << seed;
  }
}

TEST(EvaluateRules, ASumEqualToTheStagesThresholdPasses) {
  const Image<std::uint8_t> picture = balanced({20, 9});
  const float above = std::nextafter(0.5f, 1.0f);
  EXPECT_EQ(scan(half_cascade(window8, 0, 0.5f, 0.5f), picture.view(), Scan::dense).size(),
            13u * 2);
  EXPECT_EQ(scan(half_cascade(window8, 0, 0.5f, above), picture.view(), Scan::dense).size(), 0u);
}

TEST(EvaluateRules, TheScoreIsTheLastStagesSum) {
  const Image<std::uint8_t> picture = balanced({8, 8});
  Cascade cascade = half_cascade(window8, 0, 0.75f, 0.5f);
  cascade.stages.push_back({1, 2, -1});
  for (const int leaf : {2, 4}) cascade.trees.push_back({0, 1, leaf});
  cascade.leaves.insert(cascade.leaves.end(), {0, 0.125f, 0, 0.25f});
  EXPECT_EQ(scan(cascade, picture.view(), Scan::opencv), (std::vector<Window>{{5, 0, 0, 0.375}}));
}

// The score of three stumps that all go right, to these leaves.
double sum_of(float first, float second, float third) {
  const Image<std::uint8_t> picture = balanced({8, 8});
  Cascade cascade = half_cascade(window8, 0, first, -1e30f);
  for (const float leaf : {second, third}) {
    cascade.trees.push_back({0, 1, static_cast<int>(cascade.leaves.size())});
    cascade.leaves.insert(cascade.leaves.end(), {0, leaf});
  }
  cascade.stages[0].tree_count = 3;
  return scan(cascade, picture.view(), Scan::opencv).at(0).score;
}

TEST(EvaluateRules, LeavesAreAddedInFileOrder) {
  EXPECT_EQ(sum_of(1e20f, -1e20f, 1), 1);
  EXPECT_EQ(sum_of(1, 1e20f, -1e20f), 0);
}

TEST(EvaluateRules, LeavesAreAddedInF64) {
  EXPECT_EQ(sum_of(1, 0x1p-30f, 0x1p-40f), 1 + 0x1p-30 + 0x1p-40);
}

// Sums just below and just above the threshold, which the sums of vectors cannot distinguish.
TEST(EvaluateRules, SumsCloseToTheThresholdAreComparedInF64) {
  const Image<std::uint8_t> picture = balanced({8, 8});
  for (const float hair : {-0x1p-40f, 0x1p-40f}) {
    Cascade cascade = half_cascade(window8, 0, 1, 1);
    cascade.trees.push_back({0, 1, 2});
    cascade.leaves.insert(cascade.leaves.end(), {0, hair});
    cascade.stages[0].tree_count = 2;
    on_every_instruction_set(
        [&] { EXPECT_EQ(scan(cascade, picture.view(), Scan::opencv).size(), hair < 0 ? 0u : 1u); });
  }
}

// Column 4 is brighter: it lies in the right half only at position 0, which is rejected.
TEST(EvaluateRules, ARejectionByTheFirstStageSkipsTheNextPosition) {
  Image<std::uint8_t> picture = balanced({12, 8});
  for (int y = 0; y < 8; ++y) picture.row(y)[4] = 50;
  const Cascade cascade = half_cascade(window8, 0, 1, 1);
  const std::vector<Window> all = {{5, 1, 0, 1}, {5, 2, 0, 1}, {5, 3, 0, 1}, {5, 4, 0, 1}};
  EXPECT_EQ(scan(cascade, picture.view(), Scan::dense), all);
  EXPECT_EQ(scan(cascade, picture.view(), Scan::opencv),
            std::vector<Window>(all.begin() + 1, all.end()));
}

// Without its outermost pixels, the window at position 0 is uniform; that at position 1 is not.
TEST(EvaluateRules, ALowVarianceWindowIsRejectedButSkipsNothing) {
  Image<std::uint8_t> picture = flat({9, 8}, 100);
  for (int y = 0; y < 8; ++y) picture.row(y)[7] = 255;
  const Cascade cascade = half_cascade(window8, 1, 1, 1);
  EXPECT_EQ(scan(cascade, picture.view(), Scan::opencv), (std::vector<Window>{{5, 1, 0, 1}}));
  EXPECT_EQ(OneTile(cascade, picture.view(), 1).depths().row(0)[0], 0u);
}

// The last window of a tile may skip the first window of the tile to its right.
TEST(EvaluateRules, SkipsCarryOverFromTileToTile) {
  const Image<std::uint8_t> picture = flat({8, 8}, 9);
  Cascade cascade = half_cascade(window8, 0, 1, 1);
  cascade.kind = FeatureKind::lbp;
  cascade.haar.clear();
  cascade.lbp = {{{0, 0, 2, 2}}};  // in a flat picture, all bits are set: code 255
  const cpu::TileShape shape{picture.size(), false, false};
  cpu::TileTables tables(shape);
  const cpu::Tile tile = tables.build(picture.view(), {1, 1}, 1);
  cpu::EvaluationMemory memory;
  std::vector<cpu::Survivor> found;
  std::uint8_t skip = 0;
  StopMeter meter;
  const auto scan_tile = [&](bool rejects) {
    // The bit of code 255: the node goes left, to the leaf that rejects.
    cascade.nodes[0].subset[7] = rejects ? 0x80000000u : 0;
    cpu::make_lbp_evaluator(cascade, shape)->find_windows(tile, true, &skip, memory, found, meter);
    return std::pair(found.size(), static_cast<int>(skip));
  };
  EXPECT_EQ(scan_tile(true), std::pair(std::size_t{0}, 1));
  EXPECT_EQ(scan_tile(true), std::pair(std::size_t{0}, 0));  // skipped: rejects nothing
  EXPECT_EQ(scan_tile(false), std::pair(std::size_t{1}, 0));
  EXPECT_EQ(scan_tile(true), std::pair(std::size_t{1}, 1));
  EXPECT_EQ(scan_tile(false), std::pair(std::size_t{1}, 0));  // skipped: not found
}

// In a flat picture all neighbours equal the centre, so that every bit is set.
TEST(EvaluateRules, AnLbpNeighbourEqualToTheCentreSetsItsBit) {
  Cascade cascade = half_cascade(window8, 1, 0, 1);
  cascade.kind = FeatureKind::lbp;
  cascade.haar.clear();
  cascade.lbp = {{{0, 0, 2, 2}}};
  const Image<std::uint8_t> picture = flat({8, 8}, 9);
  EXPECT_EQ(scan(cascade, picture.view(), Scan::opencv).size(), 0u);
  cascade.nodes[0].subset[7] = 0x80000000u;  // code 255
  EXPECT_EQ(scan(cascade, picture.view(), Scan::opencv).size(), 1u);
}

}  // namespace
}  // namespace facesat::test
