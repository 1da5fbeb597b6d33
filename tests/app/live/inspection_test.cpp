// Intermediate pictures: their values, colours and words.
#include "app/live/detection/inspection.hpp"

#include <gtest/gtest.h>

#include "app/live/detection/feature_view.hpp"
#include "app/live/panels/reading.hpp"
#include "cascades/cascade_store.hpp"
#include "tests/kit/cascades.hpp"
#include "tests/kit/pictures.hpp"

namespace facesat::app {
namespace {

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

}  // namespace
}  // namespace facesat::app
