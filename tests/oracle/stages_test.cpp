// Every stage of the CPU backend against the OpenCV function whose results it must equal.
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>
#include <opencv2/objdetect.hpp>

#include "core/cpu/gray.hpp"
#include "core/cpu/integral.hpp"
#include "core/grouping.hpp"
#include "core/image.hpp"
#include "tests/kit/compare.hpp"
#include "tests/oracle/opencv.hpp"

namespace facesat::test {
namespace {

// ---- gray ---------------------------------------------------------------------------------------

void expect_same_gray(const cv::Mat& frame) {
  cv::Mat theirs;
  cv::cvtColor(frame, theirs, cv::COLOR_BGR2GRAY);
  Image<std::uint8_t> ours(Size{frame.cols, frame.rows});
  cpu::to_gray(colour_view(frame), ours.view());
  EXPECT_TRUE(same(ours.view(), view_of(theirs)));
}

// All 2^24 colours, one blue value at a time.
TEST(OracleStages, GrayOfEveryColour) {
  cv::Mat frame(256, 256, CV_8UC3);
  for (int blue = 0; blue < 256; ++blue) {
    for (int green = 0; green < 256; ++green)
      for (int red = 0; red < 256; ++red)
        frame.at<cv::Vec3b>(green, red) =
            cv::Vec3b(static_cast<uchar>(blue), static_cast<uchar>(green), static_cast<uchar>(red));
    expect_same_gray(frame);
  }
}

TEST(OracleStages, GrayOfRandomPictures) {
  cv::RNG random(1);
  for (int i = 0; i < 100; ++i)
    expect_same_gray(
        random_picture({random.uniform(1, 200), random.uniform(1, 60)}, random, 0, 256, CV_8UC3));
}

// ---- equalize -----------------------------------------------------------------------------------

void expect_same_equalized(const cv::Mat& gray) {
  cv::Mat theirs;
  cv::equalizeHist(gray, theirs);
  Image<std::uint8_t> ours(Size{gray.cols, gray.rows});
  cpu::equalize(view_of(gray), ours.view());
  EXPECT_TRUE(same(ours.view(), view_of(theirs)));
}

TEST(OracleStages, EqualizeOfGeneratedPictures) {
  for (const NamedPicture& picture : generated_pictures()) {
    SCOPED_TRACE(picture.name);
    expect_same_equalized(picture.gray);
  }
}

TEST(OracleStages, EqualizeOfOneAndTwoValues) {
  for (const int value : {0, 1, 127, 254, 255})
    expect_same_equalized(cv::Mat(20, 30, CV_8UC1, cv::Scalar(value)));
  cv::RNG random(2);
  for (int i = 0; i < 200; ++i) {
    cv::Mat gray(30, 41, CV_8UC1, cv::Scalar(random.uniform(0, 256)));
    const cv::Rect part(0, 0, random.uniform(1, 41), random.uniform(1, 30));
    gray(part).setTo(random.uniform(0, 256));
    expect_same_equalized(gray);
  }
}

TEST(OracleStages, EqualizeOfRandomPictures) {
  cv::RNG random(3);
  for (int i = 0; i < 3000; ++i) {
    cv::Mat gray(random.uniform(1, 200), random.uniform(1, 300), CV_8UC1);
    const int low = random.uniform(0, 255);
    random.fill(gray, cv::RNG::NORMAL, low, random.uniform(1, 80));
    expect_same_equalized(gray);
  }
}

// ---- resize -------------------------------------------------------------------------------------

void expect_same_resized(const cv::Mat& gray, cv::Size size) {
  cv::Mat theirs;
  cv::resize(gray, theirs, size, 0, 0, cv::INTER_LINEAR_EXACT);
  Image<std::uint8_t> ours(Size{size.width, size.height});
  cpu::resize(view_of(gray), ours.view(), resize_taps(gray.cols, size.width),
              resize_taps(gray.rows, size.height));
  EXPECT_TRUE(same(ours.view(), view_of(theirs))) << gray.size << " to " << size;
}

TEST(OracleStages, ResizeOfRandomSizes) {
  cv::RNG random(4);
  const auto size = [&](int limit) {
    return cv::Size(random.uniform(1, limit), random.uniform(1, limit));
  };
  for (int i = 0; i < 4000; ++i) expect_same_resized(random_picture(size(400), random), size(400));
  for (int i = 0; i < 4000; ++i) expect_same_resized(random_picture(size(20), random), size(20));
}

TEST(OracleStages, ResizeOfOneAxis) {
  cv::RNG random(5);
  for (int i = 0; i < 100; ++i) {
    const cv::Mat gray = random_picture({random.uniform(1, 300), random.uniform(1, 300)}, random);
    expect_same_resized(gray, {gray.cols, random.uniform(1, 300)});
    expect_same_resized(gray, {random.uniform(1, 300), gray.rows});
    expect_same_resized(gray, gray.size());
  }
}

// The level sizes that detection uses.
TEST(OracleStages, ResizeOfPyramids) {
  cv::RNG random(6);
  for (const double factor : {1.01, 1.05, 1.1, 1.2, 1.5, 2.0})
    for (const cv::Size size : {cv::Size(640, 480), cv::Size(337, 113), cv::Size(401, 257)}) {
      const cv::Mat gray = random_picture(size, random);
      const DetectOptions options{.scale_factor = factor};
      for (const Level& level : plan_pyramid({size.width, size.height}, {20, 20}, options).levels)
        expect_same_resized(gray, to_cv(level.size));
    }
}

// ---- tables -------------------------------------------------------------------------------------

// The integral image with its row -1 and column -1: OpenCV's layout.
View<const std::uint32_t> with_borders(const Table& table) {
  const View<const std::uint32_t> v = table.view();
  return {v.row(-1) - 1, {v.size.width + 1, v.size.height + 1}, v.pitch};
}

// OpenCV's integral images have signed integers that wrap.
View<const std::uint32_t> table_view(const cv::Mat& table) {
  return {reinterpret_cast<const std::uint32_t*>(table.data),
          {table.cols, table.rows},
          static_cast<std::ptrdiff_t>(table.step1())};
}

void expect_same_tables(const cv::Mat& picture) {
  cv::Mat sum, squared, tilted;
  cv::integral(picture, sum, squared, tilted, CV_32S, CV_32S);
  Table our_sum, our_squared, our_tilted;
  for (Table* table : {&our_sum, &our_squared, &our_tilted})
    table->resize({picture.cols, picture.rows});
  cpu::integral(view_of(picture), our_sum.view(), our_squared.view());
  cpu::tilted_integral(view_of(picture), our_tilted.view());
  EXPECT_TRUE(same(with_borders(our_sum), table_view(sum))) << picture.size;
  EXPECT_TRUE(same(with_borders(our_squared), table_view(squared))) << picture.size;
  EXPECT_TRUE(same(with_borders(our_tilted), table_view(tilted))) << picture.size;
}

TEST(OracleStages, TablesOfRandomPictures) {
  cv::RNG random(7);
  for (int i = 0; i < 1000; ++i)
    expect_same_tables(random_picture({random.uniform(1, 300), random.uniform(1, 300)}, random));
  for (int i = 1; i < 20; ++i) {
    expect_same_tables(random_picture({1, i}, random));
    expect_same_tables(random_picture({i, 1}, random));
  }
}

// The squared sum exceeds 2^32.
TEST(OracleStages, TablesThatWrap) {
  expect_same_tables(cv::Mat(700, 900, CV_8UC1, cv::Scalar(255)));
}

// ---- grouping -----------------------------------------------------------------------------------

using Counted = std::vector<std::pair<Rect, int>>;

void expect_same_groups(const std::vector<cv::Rect>& rects, int min_neighbors) {
  std::vector<cv::Rect> boxes = rects;
  std::vector<int> counts;
  cv::groupRectangles(boxes, counts, min_neighbors, 0.2);  // 0.2: as detection does
  Counted ours, theirs;
  for (std::size_t i = 0; i < boxes.size(); ++i) theirs.emplace_back(from_cv(boxes[i]), counts[i]);
  std::vector<Window> windows;
  for (const cv::Rect& r : rects) windows.push_back({.box = from_cv(r)});
  for (const Face& face : group_faces(windows, min_neighbors))
    ours.emplace_back(face.box, face.neighbors);
  EXPECT_EQ(ours, theirs) << rects.size() << " windows, more than " << min_neighbors;
}

// Rectangles around `clusters` places, up to `each` per place, displaced by up to an eighth of
// their size.
std::vector<cv::Rect> clustered(cv::RNG& random, int clusters, int each) {
  std::vector<cv::Rect> rects;
  for (int c = 0; c < clusters; ++c) {
    const int size = random.uniform(8, 120), spread = 1 + size / 8;
    const cv::Point corner(random.uniform(0, 200), random.uniform(0, 200));
    for (int i = random.uniform(1, each + 1); i > 0; --i)
      rects.emplace_back(corner.x + random.uniform(0, spread), corner.y + random.uniform(0, spread),
                         size + random.uniform(0, spread), size + random.uniform(0, spread));
  }
  for (std::size_t i = rects.size(); i > 1; --i)
    std::swap(rects[i - 1], rects[random.uniform(0, static_cast<int>(i))]);
  return rects;
}

TEST(OracleStages, GroupsOfClusters) {
  cv::RNG random(8);
  for (int i = 0; i < 20000; ++i)
    expect_same_groups(clustered(random, random.uniform(0, 12), 9), random.uniform(1, 7));
}

TEST(OracleStages, GroupsOfCrowds) {
  cv::RNG random(9);
  for (int i = 0; i < 1000; ++i)
    expect_same_groups(clustered(random, 60, 12), random.uniform(1, 7));
}

TEST(OracleStages, GroupsOfScatteredWindows) {
  cv::RNG random(10);
  for (int i = 0; i < 20000; ++i)
    expect_same_groups(clustered(random, random.uniform(1, 80), 1), random.uniform(1, 4));
}

}  // namespace
}  // namespace facesat::test
