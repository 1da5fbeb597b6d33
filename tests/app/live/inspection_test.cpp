// Intermediate pictures: their values, colours and words; and explained features, which have the
// numbers of the detector, bit for bit.
#include "app/live/detection/inspection.hpp"

#include <algorithm>
#include <span>

#include <gtest/gtest.h>

#include "app/live/panels/view_parts.hpp"
#include "cascades/cascade_store.hpp"
#include "tests/kit/cascades.hpp"
#include "tests/kit/pictures.hpp"
#include "tests/kit/reference.hpp"

namespace facesat::app {
namespace {

using test::reference::Judgement;

class InspectionTest : public ::testing::Test {
 protected:
  void SetUp() override { detector.detect(picture.view()); }

  const Image<std::uint8_t> picture = test::clouds({200, 100}, 3, 2);
  // The window of 20 x 10 pixels passes its only stage where the left half is darker.
  const std::shared_ptr<const Cascade> cascade =
      std::make_shared<const Cascade>(test::half_cascade({20, 10}, 1, 0, 0.5f));
  FrameDetector detector{cascade, {.min_neighbors = 0}, make_cpu_backend()};
};

TEST_F(InspectionTest, DepthsAreShownAtTheCentresOfTheirWindows) {
  const Level& level = detector.pyramid().levels[0];
  ASSERT_EQ(level.step, 2);
  const Image<std::uint32_t> depths = detector.backend().snapshot(Snapshot::depth, 0);
  const InspectedPicture shown = inspect(detector, {.picture = Snapshot::depth});
  ASSERT_EQ(shown.values.size(), level.size);
  EXPECT_EQ(shown.largest, 1);
  int passed = 0;
  for (int y = 0; y < level.size.height; ++y)
    for (int x = 0; x < level.size.width; ++x) {
      // A window that begins at 0 has its centre between pixels 9 and 10, and rows 4 and 5.
      const int column = x < 9 ? -1 : (x - 9) / 2, row = y < 4 ? -1 : (y - 4) / 2;
      const bool exists =
          column >= 0 && row >= 0 && column < level.grid.width && row < level.grid.height;
      const std::uint32_t expected = exists ? depths.row(row)[column] : no_value;
      ASSERT_EQ(shown.values.row(y)[x], expected) << x << ", " << y;
      passed += expected == 1;
    }
  EXPECT_GT(passed, 100);
}

TEST_F(InspectionTest, PixelsOfDepthsAndExplanationsAreOfTheSameWindow) {
  for (const int index : {0, 1, 4}) {
    const InspectedPicture shown = inspect(detector, {.picture = Snapshot::depth, .level = index});
    const LevelTables tables(detector, cascade, index);
    for (int y = 0; y < shown.values.size().height; ++y)
      for (int x = 0; x < shown.values.size().width; ++x) {
        const std::uint32_t depth = shown.values.row(y)[x];
        if (depth == no_value) continue;
        const rules::Corner window =
            tables.window_around((x + 0.5) * tables.across(), (y + 0.5) * tables.down());
        ASSERT_EQ(explain(tables, window, {}).stages_passed, static_cast<int>(depth))
            << "level " << index << ", pixel (" << x << ", " << y << ")";
      }
  }
}

TEST_F(InspectionTest, ABoxIsExplainedByTheFoundWindowMostLikeIt) {
  const std::span<const Window> windows = detector.backend().windows();
  ASSERT_GT(windows.size(), 100u);
  for (const std::size_t i : {std::size_t{0}, windows.size() / 2, windows.size() - 1}) {
    const WindowLikeBox found = window_like(detector, windows[i].box);
    const Level& level = detector.pyramid().levels[found.level];
    EXPECT_EQ(window_in_image(level, cascade->window, found.window.x, found.window.y),
              windows[i].box);
    const LevelTables tables(detector, cascade, found.level);
    EXPECT_EQ(explain(tables, found.window, {}).stages_passed, 1);
  }
}

// The windows of a face are those that were counted as its neighbours.
TEST_F(InspectionTest, ABoxHasTheWindowsThatWereMergedIntoIt) {
  FrameDetector merging(cascade, {.min_neighbors = 3}, make_cpu_backend());
  const std::vector<Face> faces = merging.detect(picture.view());
  ASSERT_FALSE(faces.empty());
  for (const Face& face : faces)
    EXPECT_EQ(window_like(merging, face.box).merged.size(),
              static_cast<std::size_t>(face.neighbors));
}

TEST_F(InspectionTest, ABoxWithoutAFoundWindowIsExplainedAtItsPlaceAndSize) {
  FrameDetector strict(std::make_shared<const Cascade>(test::half_cascade({20, 10}, 1, 0, 2)), {},
                       make_cpu_backend());
  strict.detect(picture.view());
  ASSERT_TRUE(strict.backend().windows().empty());
  const WindowLikeBox nearest = window_like(strict, {60, 30, 41, 21});
  EXPECT_TRUE(nearest.merged.empty());
  const Level& level = strict.pyramid().levels[nearest.level];
  const Rect box = window_in_image(level, {20, 10}, nearest.window.x, nearest.window.y);
  EXPECT_NEAR(box.width, 41, 4);
  EXPECT_NEAR(box.x, 60, 5);
  EXPECT_NEAR(box.y, 30, 5);
  // Beyond the edges: the last window there.
  const WindowLikeBox corner = window_like(strict, {180, 90, 20, 10});
  EXPECT_EQ(corner.window.x,
            strict.pyramid().levels[0].step * (strict.pyramid().levels[0].grid.width - 1));
}

TEST_F(InspectionTest, BrightestColourIsTheLargestValue) {
  const InspectedPicture sums = inspect(detector, {.picture = Snapshot::sum});
  EXPECT_EQ(sums.largest, sums.values.row(99)[199]);
  EXPECT_EQ(sums.colours.row(99)[199].g, palette(1).g);
  EXPECT_EQ(sums.colours.row(0)[0].g, palette(sums.values.row(0)[0] / sums.largest).g);
  EXPECT_EQ(place_in_palette(5, Snapshot::depth, 20), 0.5);
  EXPECT_EQ(place_in_palette(5, Snapshot::sum, 20), 0.25);
}

TEST_F(InspectionTest, OnlyFalseColoursNeedAScale) {
  for (const Snapshot grey : {Snapshot::gray, Snapshot::level})
    EXPECT_FALSE(inspect(detector, {.picture = grey}).is_in_false_colours());
  for (const Snapshot other : {Snapshot::sum, Snapshot::squared_sum, Snapshot::depth})
    EXPECT_TRUE(inspect(detector, {.picture = other}).is_in_false_colours());
}

TEST_F(InspectionTest, AtlasHasOneLargestDepthButASumForEachLevel) {
  EXPECT_EQ(inspect(detector, {.picture = Snapshot::depth, .atlas = true}).largest, 1);
  EXPECT_EQ(inspect(detector, {.picture = Snapshot::sum, .atlas = true}).largest, 0);
}

TEST_F(InspectionTest, ReadingsSayPlaceValueAndMeaning) {
  const auto reading = [&](const Inspection& chosen, double x, double y) {
    return reading_of(inspect(detector, chosen), x, y);
  };
  const Reading level = reading({.picture = Snapshot::level}, 0.5, 0.25);
  EXPECT_EQ(level.value,
            "pixel (100, 25) of level 0: grey " + std::to_string(picture.row(25)[100]));
  const InspectedPicture sums = inspect(detector, {.picture = Snapshot::sum, .level = 3});
  const Size size = sums.values.size();
  EXPECT_EQ(reading_of(sums, 0.9999, 0.9999).value,
            "pixel (" + std::to_string(size.width - 1) + ", " + std::to_string(size.height - 1) +
                ") of level 3: sum " +
                with_commas(sums.values.row(size.height - 1)[size.width - 1]));
  const Reading none = reading({.picture = Snapshot::depth}, 0, 0);
  EXPECT_EQ(none.value, "pixel (0, 0) of level 0");
  EXPECT_EQ(none.meaning, "no window has its centre here");
  const std::string depth = reading({.picture = Snapshot::depth}, 0.5, 0.5).value;
  EXPECT_NE(depth.find(" of 1 stages passed"), std::string::npos) << depth;
  EXPECT_EQ(reading({.picture = Snapshot::gray}, 1, 1).value,  // the last pixel
            "pixel (199, 99) of the grey image: grey " + std::to_string(picture.row(99)[199]));
}

TEST_F(InspectionTest, ReadingsOfTheFrameHaveItsColours) {
  Image<Bgr> frame({2, 1});
  frame.row(0)[0] = {};
  frame.row(0)[1] = {255, 0, 10};
  const Reading reading = reading_of(frame.view(), 1, 0);
  // 0.299 * 10 + 0.114 * 255
  EXPECT_EQ(reading.value, "pixel (1, 0) of the frame: grey 32");
  EXPECT_EQ(reading.meaning, "mixed from red 10, green 0 and blue 255");
}

TEST_F(InspectionTest, DigitsAreGrouped) {
  EXPECT_EQ(with_commas(0), "0");
  EXPECT_EQ(with_commas(999), "999");
  EXPECT_EQ(with_commas(1000), "1,000");
  EXPECT_EQ(with_commas(4294967295), "4,294,967,295");
}

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
