#include "training/cascade_prefix.hpp"

#include <algorithm>
#include <utility>

#include <gtest/gtest.h>

#include "tests/kit/cascades.hpp"

namespace facesat::training {
namespace {

// Its features in the opposite order.
Cascade renumbered(Cascade cascade) {
  const int last = static_cast<int>(cascade.feature_count()) - 1;
  std::reverse(cascade.haar.begin(), cascade.haar.end());
  std::reverse(cascade.lbp.begin(), cascade.lbp.end());
  for (Node& node : cascade.nodes) node.feature = last - node.feature;
  return cascade;
}

class CascadePrefixTest : public ::testing::TestWithParam<test::NamedShape> {};
INSTANTIATE_TEST_SUITE_P(Shapes, CascadePrefixTest, ::testing::ValuesIn(test::cascade_shapes),
                         [](const auto& one) { return one.param.name; });

TEST_P(CascadePrefixTest, IsFoundWhateverTheNumbersOfFeatures) {
  const Cascade cascade = test::random_cascade(3, GetParam().shape);
  for (std::size_t stages = 0; stages <= cascade.stages.size(); ++stages) {
    Cascade part = renumbered(cascade);
    part.stages.resize(stages);
    EXPECT_TRUE(begins_with(cascade, part));
    EXPECT_EQ(begins_with(part, cascade), stages == cascade.stages.size());
  }
}

TEST_P(CascadePrefixTest, EveryChangeMatters) {
  const Cascade cascade = test::random_cascade(3, GetParam().shape);
  const auto differs = [&](auto change) {
    Cascade changed = cascade;
    change(changed);
    return !begins_with(changed, cascade) && !begins_with(cascade, changed);
  };
  EXPECT_TRUE(differs([](Cascade& c) { c.stages.back().threshold += 1; }));
  EXPECT_TRUE(differs([](Cascade& c) { --c.stages.back().tree_count; }));
  EXPECT_TRUE(differs([](Cascade& c) { c.leaves.back() += 1; }));
  EXPECT_TRUE(differs([](Cascade& c) { std::swap(c.nodes.back().left, c.nodes.back().right); }));
  EXPECT_TRUE(differs([](Cascade& c) { ++c.window.width; }));
  if (cascade.kind == FeatureKind::haar) {
    EXPECT_TRUE(differs([](Cascade& c) { c.nodes.back().threshold += 1; }));
    EXPECT_TRUE(differs([](Cascade& c) { ++c.haar[c.nodes.back().feature].parts[1].rect.x; }));
    EXPECT_TRUE(differs([](Cascade& c) { c.haar[c.nodes.back().feature].parts[0].weight += 1; }));
    EXPECT_TRUE(differs([](Cascade& c) { c.haar[c.nodes.back().feature].tilted ^= true; }));
  } else {
    EXPECT_TRUE(differs([](Cascade& c) { c.nodes.back().subset[7] ^= 1; }));
    EXPECT_TRUE(differs([](Cascade& c) { ++c.lbp[c.nodes.back().feature].block.width; }));
  }
}

}  // namespace
}  // namespace facesat::training
