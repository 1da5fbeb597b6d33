// What the program does to pictures, beside OpenCV: JPEGs are read as their luma, and the faces in
// it are found, as by cv::imread(IMREAD_GRAYSCALE) and detectMultiScale; other sizes are those of
// cv::resize.
#include <filesystem>

#include <gtest/gtest.h>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <unistd.h>

#include "core/resample.hpp"
#include "media/codec.hpp"
#include "tests/kit/compare.hpp"
#include "tests/oracle/opencv.hpp"

namespace facesat::test {
namespace {

namespace fs = std::filesystem;

// The pictures, in changing colours, as JPEGs of several qualities.
class Luma : public ::testing::Test {
 protected:
  Luma() {
    fs::create_directories(folder);
    int number = 0;
    for (const NamedPicture& picture : generated_pictures()) {
      cv::Mat colour;
      cv::applyColorMap(picture.gray, colour, number % 12);
      files.push_back(folder / (std::to_string(number) + ".jpg"));
      cv::imwrite(files.back().string(), number % 5 == 0 ? picture.gray : colour,
                  {cv::IMWRITE_JPEG_QUALITY, 40 + 10 * (number % 7), cv::IMWRITE_JPEG_PROGRESSIVE,
                   number % 2});
      ++number;
    }
    for (const std::string& file : photograph_files())
      if (file.ends_with(".jpg")) files.emplace_back(file);
  }
  ~Luma() override { fs::remove_all(folder); }

  const fs::path folder = fs::temp_directory_path() / ("luma" + std::to_string(::getpid()));
  std::vector<fs::path> files;
};

TEST_F(Luma, EqualsImreadAndItsFacesThoseOfDetectMultiScale) {
  const fs::path model =
      fs::path(FACESAT_CASCADE_DIR) / "haarcascades/haarcascade_frontalface_default.xml";
  cv::CascadeClassifier opencv(model.string());
  const auto cascade = std::make_shared<const Cascade>(load_cascade(model));
  FrameDetector detector(cascade, {}, make_cpu_backend());
  std::size_t faces = 0;
  for (const fs::path& file : files) {
    SCOPED_TRACE(file.filename().string());
    const cv::Mat expected = cv::imread(file.string(), cv::IMREAD_GRAYSCALE);
    if (expected.empty()) continue;  // not a picture, for OpenCV
    const Picture picture = read_picture(file, {}, Reading::luma);
    ASSERT_TRUE(picture.luma.data);
    EXPECT_TRUE(same(picture.luma, view_of(expected)));
    const std::vector<Rect> found = boxes(detector.detect(picture.luma));
    EXPECT_EQ(found, detect_opencv(opencv, expected, {}));
    faces += found.size();
  }
  EXPECT_GT(files.size(), 20u);
  EXPECT_GT(faces, 0u);
}

TEST_F(Luma, OfADamagedFileEqualsImread) {
  const std::uintmax_t size = fs::file_size(files[5]);
  fs::resize_file(files[5], size / 2);
  const Picture picture = read_picture(files[5], {}, Reading::luma);
  EXPECT_NE(picture.warning, "");
  EXPECT_TRUE(same(picture.luma, view_of(cv::imread(files[5].string(), cv::IMREAD_GRAYSCALE))));
}

cv::Mat noise(int width, int height) {
  static cv::RNG random(7);
  cv::Mat picture(height, width, CV_8UC3);
  random.fill(picture, cv::RNG::UNIFORM, 0, 256);
  return picture;
}

void expect_same(const Image<Bgr>& ours, const cv::Mat& theirs) {
  ASSERT_EQ(ours.size(), (Size{theirs.cols, theirs.rows}));
  int wrong = 0;
  for (int y = 0; y < theirs.rows; ++y)
    for (int x = 0; x < theirs.cols; ++x) {
      const Bgr a = ours.row(y)[x];
      wrong += cv::Vec3b(a.b, a.g, a.r) != theirs.at<cv::Vec3b>(y, x);
    }
  EXPECT_EQ(wrong, 0) << theirs.cols << "x" << theirs.rows;
}

TEST(Resample, EnlargesAsOpenCvDoes) {
  for (const cv::Size from : {cv::Size(1, 1), {2, 3}, {24, 24}, {53, 31}})
    for (const cv::Size to : {cv::Size(256, 256), {53, 40}, {100, 1000}}) {
      if (to.width < from.width || to.height < from.height) continue;
      const cv::Mat picture = noise(from.width, from.height);
      cv::Mat theirs;
      cv::resize(picture, theirs, to, 0, 0, cv::INTER_LINEAR_EXACT);
      expect_same(
          resampled(colour_view(picture), {0, 0, from.width, from.height}, {to.width, to.height}),
          theirs);
    }
}

// By odd factors, and by 2, OpenCV's rounding is exact, too.
TEST(Resample, ShrinksAsOpenCvDoes) {
  for (const cv::Size factor : {cv::Size(2, 2), {3, 3}, {5, 5}, {3, 5}, {1, 7}}) {
    const cv::Size to(37, 21);
    const cv::Mat picture = noise(to.width * factor.width, to.height * factor.height);
    cv::Mat theirs;
    cv::resize(picture, theirs, to, 0, 0, cv::INTER_AREA);
    expect_same(
        resampled(colour_view(picture), {0, 0, picture.cols, picture.rows}, {to.width, to.height}),
        theirs);
  }
}

TEST(Resample, RepeatsTheEdgesBeyondThePicture) {
  const cv::Mat picture = noise(20, 10);
  cv::Mat padded;
  cv::copyMakeBorder(picture, padded, 7, 12, 5, 31, cv::BORDER_REPLICATE);
  const Rect region{-5, -7, padded.cols, padded.rows};
  expect_same(resampled(colour_view(picture), region, {padded.cols, padded.rows}), padded);
  cv::Mat theirs;
  cv::resize(padded, theirs, {100, 50}, 0, 0, cv::INTER_LINEAR_EXACT);
  expect_same(resampled(colour_view(picture), region, {100, 50}), theirs);
}

TEST(Resample, MakesBlocks) {
  const cv::Mat picture = noise(4, 4);
  cv::Mat theirs;
  cv::resize(picture, theirs, {40, 24}, 0, 0, cv::INTER_NEAREST);
  expect_same(resampled(colour_view(picture), {0, 0, 4, 4}, {40, 24}, Enlarging::blocks), theirs);
}

}  // namespace
}  // namespace facesat::test
