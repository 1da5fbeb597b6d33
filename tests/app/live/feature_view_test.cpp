// The explained features have the numbers of the detector, bit for bit.
#include "app/live/detection/feature_view.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "cascades/cascade_store.hpp"
#include "facesat.hpp"
#include "tests/kit/cascades.hpp"
#include "tests/kit/pictures.hpp"
#include "tests/kit/reference.hpp"

namespace facesat::app {
namespace {

using test::reference::Judgement;

// A detector that has processed a picture.
struct Processed {
  Processed(Cascade of, View<const std::uint8_t> picture, Scan scan = Scan::opencv)
      : cascade(std::make_shared<const Cascade>(std::move(of))),
        detector(cascade, {.scale_factor = 1.5, .min_neighbors = 0, .scan = scan},
                 make_cpu_backend()) {
    detector.detect(picture);
  }
  LevelTables tables(int level) { return {detector, cascade, level}; }
  int level_count() const { return static_cast<int>(detector.pyramid().levels.size()); }

  std::shared_ptr<const Cascade> cascade;
  FrameDetector detector;
};

// Calls visit(window, grid place) for every `nth` window of the level.
template <class Visit>
void for_windows(const Level& level, int nth, Visit visit) {
  for (int row = 0; row < level.grid.height; ++row)
    for (int column = row % nth; column < level.grid.width; column += nth)
      visit(rules::Corner{column * level.step, row * level.step}, rules::Corner{column, row});
}

// Returns how many of the windows pass more than one stage.
int expect_the_depths_of_the_detector(Processed& processed, int nth) {
  int several = 0;
  for (int i = 0; i < processed.level_count(); ++i) {
    const LevelTables tables = processed.tables(i);
    const Image<std::uint32_t> depths = processed.detector.backend().snapshot(Snapshot::depth, i);
    for_windows(tables.level(), nth, [&](rules::Corner window, rules::Corner at) {
      const auto passed = static_cast<std::uint32_t>(explain(tables, window, {}).stages_passed);
      EXPECT_EQ(passed, depths.row(at.y)[at.x]) << i << ": " << window.x << ", " << window.y;
      several += passed > 1;
    });
  }
  return several;
}

class RandomFeatures : public ::testing::TestWithParam<test::NamedShape> {
 protected:
  // Tilted features of windows at the left edge reach into column -1 of the tilted integral image.
  const Image<std::uint8_t> picture = test::clouds({61, 47}, 3, 2);
};

TEST_P(RandomFeatures, StagesPassedAreTheDetectors) {
  int several = 0;
  for (unsigned seed = 1; seed <= 10; ++seed)
    for (const Scan scan : {Scan::opencv, Scan::dense}) {
      Processed processed(test::random_cascade(seed, GetParam().shape), picture.view(), scan);
      several += expect_the_depths_of_the_detector(processed, 1);
    }
  EXPECT_GT(several, 1000);
}

TEST_P(RandomFeatures, ScoresOfFoundWindowsAreTheDetectors) {
  std::size_t found = 0;
  for (unsigned seed = 1; seed <= 10; ++seed) {
    Processed processed(test::random_cascade(seed, GetParam().shape), picture.view());
    const FeatureChoice last{static_cast<int>(processed.cascade->stages.size()) - 1};
    for (const Window& window : processed.detector.backend().windows()) {
      const LevelTables tables = processed.tables(window.level);
      const Explanation explained = explain(tables, {window.x, window.y}, last);
      EXPECT_EQ(explained.stage_sum, window.score);
      EXPECT_TRUE(explained.passes_stage);
      ++found;
    }
  }
  EXPECT_GT(found, 10u);
}

// The reference works on the pixels, without integral images.
TEST_P(RandomFeatures, StageSumsAreThoseOfTheReference) {
  Processed processed(test::random_cascade(5, GetParam().shape), picture.view());
  const Cascade& cascade = *processed.cascade;
  const LevelTables tables = processed.tables(0);
  const Image<std::uint8_t> level = test::reference::resized(picture.view(), tables.level().size);
  for_windows(tables.level(), 1, [&](rules::Corner window, rules::Corner) {
    const Judgement judged = test::reference::judge(
        cascade,
        level.view().sub({window.x, window.y, cascade.window.width, cascade.window.height}));
    if (judged.stages_passed < 0) {
      EXPECT_EQ(explain(tables, window, {}).inverse_deviation, 0);
      return;
    }
    const int stages = static_cast<int>(cascade.stages.size());
    const int deciding = std::min(judged.stages_passed, stages - 1);
    const Explanation explained = explain(tables, window, {deciding});
    EXPECT_EQ(explained.stage_sum, judged.score);
    EXPECT_EQ(explained.passes_stage, judged.stages_passed == stages);
  });
}

TEST_P(RandomFeatures, ResponsesAddUpToTheStageSumAndWalksFollowTheNodeTests) {
  Processed processed(test::random_cascade(7, GetParam().shape), picture.view());
  const Cascade& cascade = *processed.cascade;
  const LevelTables tables = processed.tables(0);
  for_windows(tables.level(), 5, [&](rules::Corner window, rules::Corner) {
    if (explain(tables, window, {}).inverse_deviation == 0) return;
    double sum = 0;
    for (int weak = 0; weak < cascade.stages[1].tree_count; ++weak) {
      const FeatureChoice choice{1, weak};
      const Explanation whole = explain(tables, window, choice);
      sum += whole.response;
      EXPECT_EQ(whole.sum_so_far, sum);
      ASSERT_FALSE(whole.walk.empty());
      for (const Explanation::Step& step : whole.walk) {
        const FeatureChoice at{1, weak, step.node};
        const Explanation node = explain(tables, window, at);
        EXPECT_TRUE(node.is_on_walk);
        EXPECT_EQ(node.left, step.left);
        if (cascade.kind == FeatureKind::haar) {
          EXPECT_EQ(node.left, node.value < at.of(cascade).threshold);
        }
      }
    }
    EXPECT_EQ(explain(tables, window, {1}).stage_sum, sum);
  });
}

INSTANTIATE_TEST_SUITE_P(, RandomFeatures, ::testing::ValuesIn(test::cascade_shapes),
                         [](const auto& one) { return one.param.name; });

TEST(FeatureView, DepthsOfOpenCvsOwnCascades) {
  const Image<std::uint8_t> picture = test::drawn_faces({320, 200});
  for (const char* name : {"frontalface_default", "frontalface_alt2", "lbp:frontalface"}) {
    if (!cascade_file(name)) continue;
    Processed processed(*find_cascade(name), picture.view());
    EXPECT_GT(expect_the_depths_of_the_detector(processed, 3), 1000);
  }
}

// The sum of a rectangle of pixels.
std::uint32_t pixel_sum(const Image<std::uint32_t>& level, rules::Corner window, const Rect& r) {
  std::uint32_t sum = 0;
  for (int y = 0; y < r.height; ++y)
    for (int x = 0; x < r.width; ++x) sum += level.row(window.y + r.y + y)[window.x + r.x + x];
  return sum;
}

TEST(FeatureView, SumsAreReadFromTheIntegralImageAtTheCorners) {
  const Image<std::uint8_t> picture = test::clouds({61, 47}, 3, 2);
  for (const auto& [name, shape] : test::cascade_shapes) {
    if (shape.tilted) continue;
    Processed processed(test::random_cascade(2, shape), picture.view());
    const LevelTables tables = processed.tables(1);
    const Image<std::uint32_t> level = processed.detector.backend().snapshot(Snapshot::level, 1);
    const Image<std::uint32_t> sums = processed.detector.backend().snapshot(Snapshot::sum, 1);
    const Node& node = processed.cascade->nodes.front();
    for_windows(tables.level(), 3, [&](rules::Corner window, rules::Corner) {
      for (const RectangleSum& rectangle : rectangles_of(tables, window, node)) {
        EXPECT_EQ(rectangle.sum, pixel_sum(level, window, rectangle.rect));
        const auto [a, b, c, d] = rectangle.read;
        EXPECT_EQ(rectangle.sum, d - b - c + a);
        for (std::size_t i = 0; i < 4; ++i) {
          const int x = window.x + rectangle.corner[i].x - 1,
                    y = window.y + rectangle.corner[i].y - 1;
          EXPECT_EQ(rectangle.read[i], x < 0 || y < 0 ? 0 : sums.row(y)[x]);
        }
      }
    });
  }
}

TEST(FeatureView, AbsentRectanglesAreNotShown) {
  const Image<std::uint8_t> picture = test::clouds({61, 47}, 3, 2);
  Cascade cascade = test::half_cascade({20, 10}, 1, 1, 0);
  for (const std::size_t count : {2, 1}) {
    if (count == 1) cascade.haar[0].parts[1] = {};
    Processed processed(cascade, picture.view());
    EXPECT_EQ(rectangles_of(processed.tables(0), {0, 0}, cascade.nodes[0]).size(), count);
    const FeatureChoice last = FeatureChoice{.rectangle = 9}.within(cascade);
    EXPECT_EQ(last.rectangle + 1, static_cast<int>(count));
  }
}

TEST(FeatureView, BitsOfTheBlocksMakeTheCode) {
  const Image<std::uint8_t> picture = test::clouds({61, 47}, 3, 2);
  Processed processed(test::random_cascade(2, {.kind = FeatureKind::lbp}), picture.view());
  const LevelTables tables = processed.tables(0);
  constexpr int clockwise[] = {0, 1, 2, 5, 8, 7, 6, 3};
  for_windows(tables.level(), 3, [&](rules::Corner window, rules::Corner) {
    const Explanation explained = explain(tables, window, {});
    ASSERT_EQ(explained.rectangles.size(), 9u);
    unsigned code = 0;
    for (const int block : clockwise) code = 2 * code + explained.rectangles[block].bit;
    EXPECT_EQ(explained.code, code);
  });
}

TEST(FeatureView, WindowsAreSnappedToPositionsOfTheLevel) {
  const Image<std::uint8_t> picture = test::clouds({200, 100}, 3, 2);
  Processed processed(test::half_cascade({20, 10}, 1, 1, 0), picture.view());
  const LevelTables first = processed.tables(0);  // as large as the picture
  ASSERT_EQ(first.level().step, 2);
  EXPECT_EQ(first.across(), 1);
  EXPECT_EQ(first.window_around(30, 25), (rules::Corner{20, 20}));
  EXPECT_EQ(first.window_around(30.9, 25.9), (rules::Corner{20, 20}));
  EXPECT_EQ(first.window_around(31.1, 26.1), (rules::Corner{22, 22}));
  EXPECT_EQ(first.window_around(0, 0), (rules::Corner{0, 0}));
  EXPECT_EQ(first.window_around(200, 100), (rules::Corner{180, 90}));
  const LevelTables second = processed.tables(2);  // 2.25 times smaller
  ASSERT_EQ(second.level().step, 1);
  EXPECT_EQ(second.window_around(100, 50).x, (second.level().size.width - 20 + 1) / 2);
}

TEST(FeatureView, ChoicesOutsideTheCascadeBecomeTheNearest) {
  const Cascade cascade = test::random_cascade(4, {.max_nodes = 3});
  const FeatureChoice last = FeatureChoice{99, 99, 99, 99}.within(cascade);
  EXPECT_EQ(last.stage + 1, std::ssize(cascade.stages));
  EXPECT_EQ(last.weak + 1, cascade.stages.back().tree_count);
  EXPECT_EQ(last.node + 1, cascade.trees.back().node_count);
  EXPECT_GE(last.rectangle, 1);
  EXPECT_LE(last.rectangle, 2);
  EXPECT_EQ((FeatureChoice{-1, -1, -1, -1}.within(cascade)), FeatureChoice());
}

}  // namespace
}  // namespace facesat::app
