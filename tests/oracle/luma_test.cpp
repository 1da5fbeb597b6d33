// JPEGs read as their luma, and the faces in it, against cv::imread(IMREAD_GRAYSCALE) and
// detectMultiScale.
#include <filesystem>

#include <gtest/gtest.h>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <unistd.h>

#include "media/codec.hpp"
#include "tests/kit/same.hpp"
#include "tests/oracle/opencv_adapter.hpp"
#include "tests/oracle/pictures.hpp"

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

}  // namespace
}  // namespace facesat::test
