#include "core/cpu/evaluate.hpp"

#include <cmath>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "core/cpu/integral.hpp"
#include "core/table.hpp"
#include "tests/core/cascades.hpp"
#include "tests/core/pictures.hpp"
#include "tests/core/printers.hpp"
#include "tests/core/reference.hpp"
#include "tests/core/same.hpp"

namespace facesat::test {
namespace {

// A picture as the one level of an atlas, somewhere inside it, with noise around.
class OneLevel {
 public:
  OneLevel(View<const std::uint8_t> picture, Size window, int step)
      : atlas_(noise({picture.size.width + 37, picture.size.height + 29}, 99)) {
    level.size = picture.size;
    level.step = step;
    level.grid = {(picture.size.width - window.width) / step + 1,
                  (picture.size.height - window.height) / step + 1};
    level.x = 16;
    level.y = 11;
    copy<std::uint8_t>(
        picture, atlas_.view().sub({level.x, level.y, picture.size.width, picture.size.height}));
    for (Table* table : {&sum_, &squared_, &tilted_}) table->resize(atlas_.size());
    cpu::integral(atlas_.view(), sum_.view(), squared_.view());
    cpu::tilted_integral(atlas_.view(), tilted_.view());
  }

  cpu::Tables tables() const { return {sum_.view(), squared_.view(), tilted_.view()}; }
  std::unique_ptr<cpu::Evaluator> evaluator(const Cascade& cascade) const {
    const std::ptrdiff_t pitch = tables().sum.pitch;
    return cascade.kind == FeatureKind::haar ? cpu::make_haar_evaluator(cascade, pitch)
                                             : cpu::make_lbp_evaluator(cascade, pitch);
  }
  Level level;

 private:
  Image<std::uint8_t> atlas_;
  Table sum_, squared_, tilted_;
};

std::vector<Window> scan(const Cascade& cascade, const OneLevel& one, Scan order) {
  std::vector<Window> windows;
  one.evaluator(cascade)->scan(one.tables(), one.level, 5, order, 0, one.level.grid.height,
                               windows);
  return windows;
}

Image<std::uint32_t> depths(const Cascade& cascade, const OneLevel& one) {
  Image<std::uint32_t> result(one.level.grid);
  const auto evaluator = one.evaluator(cascade);
  for (int row = 0; row < one.level.grid.height; ++row)
    evaluator->depths(one.tables(), one.level, row, result.row(row));
  return result;
}

// ---- random cascades ----------------------------------------------------------------------------

class Evaluate : public ::testing::TestWithParam<NamedShape> {};

// Pictures whose windows are partly flat for the detector, that is below a deviation of 10.
std::vector<Image<std::uint8_t>> pictures(unsigned seed) {
  std::vector<Image<std::uint8_t>> all;
  all.push_back(noise({41, 33}, seed));
  all.push_back(noise({40, 34}, seed, 100, 135));
  all.push_back(clouds({47, 31}, seed, 3));
  all.push_back(flat({30, 30}, 77));
  return all;
}

TEST_P(Evaluate, GivesWhatTheDefinitionGives) {
  std::size_t found = 0;
  for (unsigned seed = 0; seed < 25; ++seed) {
    const Cascade cascade = random_cascade(seed, GetParam().shape);
    for (const Image<std::uint8_t>& picture : pictures(seed))
      for (const int step : {1, 2}) {
        const OneLevel one(picture.view(), cascade.window, step);
        EXPECT_TRUE(same(depths(cascade, one).view(),
                         reference::depths(cascade, picture.view(), one.level).view()))
            << "seed " << seed;
        for (const Scan order : {Scan::opencv, Scan::dense}) {
          const auto expected = reference::windows(cascade, picture.view(), one.level, 5, order);
          EXPECT_EQ(scan(cascade, one, order), expected) << "seed " << seed;
          found += expected.size();
        }
      }
  }
  EXPECT_GT(found, 1000u);  // otherwise the comparison says little
}

INSTANTIATE_TEST_SUITE_P(Random, Evaluate, ::testing::ValuesIn(cascade_shapes),
                         [](const auto& tested) { return tested.param.name; });

// ---- single rules -------------------------------------------------------------------------------

// Columns alternate between 0 and 255, so halves of even width are equal and no window is flat.
Image<std::uint8_t> balanced(Size size) {
  Image<std::uint8_t> picture(size);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) picture.row(y)[x] = x % 2 ? 255 : 0;
  return picture;
}

constexpr Size window8{8, 8};

TEST(EvaluateRules, AValueEqualToTheThresholdGoesRight) {
  const Image<std::uint8_t> picture = balanced({20, 9});
  const OneLevel one(picture.view(), window8, 1);
  EXPECT_EQ(scan(half_cascade(window8, 0, 1, 1), one, Scan::dense).size(), 13u * 2);
  EXPECT_EQ(scan(half_cascade(window8, 1, 0, 1), one, Scan::dense).size(), 0u);
}

// Of a window whose left half has the weight -1 and whose right half the weight 1: the value that a
// node compares with its threshold, every operation in the precision that OpenCV has it.
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

// The threshold is the value itself: the least error of rounding in it would turn some of these
// left, and in half of them another precision makes one.
TEST(EvaluateRules, ValuesAreRoundedAsInOpenCv) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    const Image<std::uint8_t> picture = noise(window8, seed);
    const OneLevel one(picture.view(), window8, 1);
    Cascade cascade = half_cascade(window8, 0, 1, 1);  // passes to the right
    cascade.haar[0].parts = {{{{0, 0, 4, 8}, -1}, {{4, 0, 4, 8}, 1}, {}}};
    cascade.nodes[0].threshold = half_value(picture.view());
    EXPECT_EQ(scan(cascade, one, Scan::dense).size(), 1u) << seed;
    cascade.nodes[0].threshold = std::nextafter(cascade.nodes[0].threshold, 1e9f);
    EXPECT_EQ(scan(cascade, one, Scan::dense).size(), 0u) << seed;
  }
}

TEST(EvaluateRules, ASumEqualToTheStagesThresholdPasses) {
  const Image<std::uint8_t> picture = balanced({20, 9});
  const OneLevel one(picture.view(), window8, 1);
  const float above = std::nextafter(0.5f, 1.0f);
  EXPECT_EQ(scan(half_cascade(window8, 0, 0.5f, 0.5f), one, Scan::dense).size(), 13u * 2);
  EXPECT_EQ(scan(half_cascade(window8, 0, 0.5f, above), one, Scan::dense).size(), 0u);
}

TEST(EvaluateRules, TheScoreIsTheLastStagesSum) {
  const Image<std::uint8_t> picture = balanced({8, 8});
  const OneLevel one(picture.view(), window8, 1);
  Cascade cascade = half_cascade(window8, 0, 0.75f, 0.5f);
  cascade.stages.push_back({1, 2, -1});
  for (const int leaf : {2, 4}) cascade.trees.push_back({0, 1, leaf});
  cascade.leaves.insert(cascade.leaves.end(), {0, 0.125f, 0, 0.25f});
  EXPECT_EQ(scan(cascade, one, Scan::opencv), (std::vector<Window>{{5, 0, 0, 0.375}}));
}

// Three stumps that all go right, to these leaves.
double sum_of(float first, float second, float third) {
  const Image<std::uint8_t> picture = balanced({8, 8});
  const OneLevel one(picture.view(), window8, 1);
  Cascade cascade = half_cascade(window8, 0, first, -1e30f);
  for (const float leaf : {second, third}) {
    cascade.trees.push_back({0, 1, static_cast<int>(cascade.leaves.size())});
    cascade.leaves.insert(cascade.leaves.end(), {0, leaf});
  }
  cascade.stages[0].tree_count = 3;
  return scan(cascade, one, Scan::opencv).at(0).score;
}

TEST(EvaluateRules, LeavesAreAddedInFileOrder) {
  EXPECT_EQ(sum_of(1e20f, -1e20f, 1), 1);
  EXPECT_EQ(sum_of(1, 1e20f, -1e20f), 0);
}

TEST(EvaluateRules, LeavesAreAddedInF64) {
  EXPECT_EQ(sum_of(1, 0x1p-30f, 0x1p-40f), 1 + 0x1p-30 + 0x1p-40);
}

// Column 4 is brighter: position 0 alone has it in its right half, and is rejected.
TEST(EvaluateRules, ARejectionByTheFirstStageSkipsTheNextPosition) {
  Image<std::uint8_t> picture = balanced({12, 8});
  for (int y = 0; y < 8; ++y) picture.row(y)[4] = 50;
  const Cascade cascade = half_cascade(window8, 0, 1, 1);
  const OneLevel one(picture.view(), window8, 1);
  const std::vector<Window> all = {{5, 1, 0, 1}, {5, 2, 0, 1}, {5, 3, 0, 1}, {5, 4, 0, 1}};
  EXPECT_EQ(scan(cascade, one, Scan::dense), all);
  EXPECT_EQ(scan(cascade, one, Scan::opencv), std::vector<Window>(all.begin() + 1, all.end()));
}

// Without its outermost pixels, position 0 is flat and position 1 is not.
TEST(EvaluateRules, AFlatWindowIsRejectedButSkipsNothing) {
  Image<std::uint8_t> picture = flat({9, 8}, 100);
  for (int y = 0; y < 8; ++y) picture.row(y)[7] = 255;
  const Cascade cascade = half_cascade(window8, 1, 1, 1);
  const OneLevel one(picture.view(), window8, 1);
  EXPECT_EQ(scan(cascade, one, Scan::opencv), (std::vector<Window>{{5, 1, 0, 1}}));
  EXPECT_EQ(depths(cascade, one).row(0)[0], 0u);
}

TEST(EvaluateRules, ScanAppendsTheRowsAskedFor) {
  const Image<std::uint8_t> picture = balanced({8, 20});
  const OneLevel one(picture.view(), window8, 3);
  std::vector<Window> windows = {{1, 2, 3, 4}};
  const Cascade cascade = half_cascade(window8, 0, 1, 1);
  one.evaluator(cascade)->scan(one.tables(), one.level, 5, Scan::opencv, 1, 3, windows);
  EXPECT_EQ(windows, (std::vector<Window>{{1, 2, 3, 4}, {5, 0, 3, 1}, {5, 0, 6, 1}}));
}

// All neighbours equal the centre: every bit is set.
TEST(EvaluateRules, AnLbpNeighbourEqualToTheCentreSetsItsBit) {
  Cascade cascade = half_cascade(window8, 1, 0, 1);
  cascade.kind = FeatureKind::lbp;
  cascade.haar.clear();
  cascade.lbp = {{{0, 0, 2, 2}}};
  const Image<std::uint8_t> picture = flat({8, 8}, 9);
  const OneLevel one(picture.view(), window8, 1);
  EXPECT_EQ(scan(cascade, one, Scan::opencv).size(), 0u);
  cascade.nodes[0].subset[7] = 0x80000000u;  // code 255
  EXPECT_EQ(scan(cascade, one, Scan::opencv).size(), 1u);
}

}  // namespace
}  // namespace facesat::test
