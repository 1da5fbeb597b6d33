#include "kernels/image/atlas.hpp"

#include <random>

#include <gtest/gtest.h>

#include "tests/kit/printers.hpp"

namespace facesat::gpu {
namespace {

bool overlap(const Rect& a, const Rect& b) {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

void expect_levels_apart(const Pyramid& pyramid, const AtlasPlan& plan) {
  ASSERT_EQ(plan.places.size(), pyramid.levels.size());
  for (int i = 0; i < std::ssize(plan.places); ++i) {
    const AtlasPlan::Place& place = plan.places[i];
    ASSERT_LT(place.group, std::ssize(plan.groups));
    const Size atlas = plan.groups[place.group].atlas;
    const Rect level = plan.rectangle(pyramid, i);
    EXPECT_GE(level.x, 0);
    EXPECT_EQ(level.x % 16, 0);  // vectors of bytes are aligned
    EXPECT_GE(level.y, 0);
    EXPECT_LE(level.x + level.width, atlas.width);
    EXPECT_LE(level.y + level.height, atlas.height);
    for (int j = 0; j < i; ++j)
      EXPECT_FALSE(plan.places[j].group == place.group &&
                   overlap(level, plan.rectangle(pyramid, j)))
          << "levels " << j << " and " << i;
  }
}

void expect_groups_in_order(const AtlasPlan& plan, std::size_t max_pixels) {
  int next = 0;
  for (int g = 0; g < std::ssize(plan.groups); ++g) {
    const LevelGroup& group = plan.groups[g];
    EXPECT_EQ(group.first, next);
    ASSERT_GE(group.count, 1);
    next += group.count;
    ASSERT_LE(next, std::ssize(plan.places));
    for (int i = group.first; i < next; ++i) EXPECT_EQ(plan.places[i].group, g);
    EXPECT_TRUE(group.count == 1 || group.atlas.area() <= max_pixels);
    EXPECT_EQ(group.atlas.width, plan.largest().width);
    EXPECT_LE(group.atlas.height, plan.largest().height);
  }
  EXPECT_EQ(next, std::ssize(plan.places));
}

TEST(Atlas, HoldsEveryLevelOnceAndApart) {
  std::mt19937 random(1);
  const auto upto = [&](unsigned n) { return 1 + static_cast<int>(random() % n); };
  for (int i = 0; i < 200; ++i) {
    const Size image{20 + upto(600), 20 + upto(600)}, window{2 + upto(30), 2 + upto(30)};
    const DetectOptions options{.scale_factor = 1 + upto(60) / 50.0,
                                .min_size = {upto(60), upto(60)},
                                .scan = i % 2 ? Scan::opencv : Scan::dense};
    const Pyramid pyramid = plan_pyramid(image, window, options);
    for (const std::size_t limit : {std::size_t{0}, std::size_t{1}, image.area() / 3, image.area(),
                                    2 * image.area(), max_atlas_pixels}) {
      const AtlasPlan plan = plan_atlas(pyramid, limit);
      expect_levels_apart(pyramid, plan);
      expect_groups_in_order(plan, limit);
    }
  }
}

TEST(Atlas, OneGroupIfThereIsRoomAndOneForEachLevelIfThereIsNone) {
  const Pyramid pyramid = plan_pyramid({300, 200}, {24, 24}, {});
  EXPECT_EQ(plan_atlas(pyramid).groups.size(), 1u);
  // An atlas with room for little more than the first level, of 60,000 pixels.
  EXPECT_GT(plan_atlas(pyramid, 70000).groups.size(), 2u);
  // Each level alone in an atlas.
  const AtlasPlan alone = plan_atlas(pyramid, 0);
  EXPECT_EQ(alone.groups.size(), pyramid.levels.size());
  EXPECT_EQ(alone.groups[0].atlas, (Size{304, 200}));  // larger than allowed, as it must be
}

TEST(Atlas, OfNoLevelsIsEmpty) {
  const AtlasPlan plan = plan_atlas(plan_pyramid({20, 20}, {24, 24}, {}));
  EXPECT_TRUE(plan.groups.empty());
  EXPECT_EQ(plan.largest(), Size{});
}

}  // namespace
}  // namespace facesat::gpu
