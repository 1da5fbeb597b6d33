#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>

#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

#include "tests/kit/drawn_face.hpp"
#include "tests/oracle/opencv.hpp"

namespace facesat::test {
namespace {

cv::Mat noise(cv::Size size, std::uint64_t seed, int low = 0, int high = 256) {
  cv::RNG random(seed);
  return random_picture(size, random, low, high);
}

// Blurred noise. It shows no face, yet some of its windows pass many stages.
cv::Mat clouds(cv::Size size, std::uint64_t seed, double sigma) {
  cv::Mat picture;
  cv::GaussianBlur(noise(size, seed), picture, {}, sigma);
  cv::normalize(picture, picture, 0, 255, cv::NORM_MINMAX);
  return picture;
}

// Faint noise next to a black and a white area: some windows have enough variance to be evaluated,
// others are rejected because their variance is low.
cv::Mat islands(cv::Size size, std::uint64_t seed) {
  cv::Mat picture = noise(size, seed, 100, 103);
  picture(cv::Rect(0, 0, size.width / 3, size.height)).setTo(0);
  picture(cv::Rect(2 * size.width / 3, 0, size.width / 3, size.height / 2)).setTo(255);
  for (int i = 0; i < 12; ++i)
    picture.at<uchar>((i * 37) % size.height, (i * 53) % (size.width / 3)) = 255;
  return picture;
}

// The picture whose pixel (x, y) is value(x, y).
template <class Value>
cv::Mat formula(cv::Size size, Value value) {
  cv::Mat picture(size, CV_8UC1);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) picture.at<uchar>(y, x) = static_cast<uchar>(value(x, y));
  return picture;
}

// Windows of these faces pass many stages of the face cascades.
cv::Mat drawn_faces() {
  const Image<std::uint8_t> picture =
      draw_faces({430, 130}, {{30, 60, 18}, {90, 60, 25}, {175, 65, 36}, {310, 65, 50}});
  return cv::Mat(130, 430, CV_8UC1, const_cast<std::uint8_t*>(picture.row(0)),
                 static_cast<std::size_t>(picture.view().pitch))
      .clone();
}

bool is_picture(const std::filesystem::path& file) {
  const std::string extension = file.extension().string();
  return extension == ".jpg" || extension == ".png";
}

// The pictures below the folder that the environment variable `variable` names, sorted; without
// those in folders named "tricky", which test decoders.
std::vector<std::filesystem::path> picture_files(const char* variable) {
  std::vector<std::filesystem::path> files;
  const char* folder = std::getenv(variable);
  if (!folder || !std::filesystem::is_directory(folder)) return files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.is_regular_file() && is_picture(entry.path()) &&
        entry.path().string().find("/tricky/") == std::string::npos)
      files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

std::vector<NamedPicture> generated_pictures() {
  const cv::Mat grey_ramp = formula({203, 151}, [](int x, int y) { return (x + y) * 255 / 352; });
  return {
      {"noise 160x120", noise({160, 120}, 1)},
      {"noise of 3 values 131x97", noise({131, 97}, 2, 127, 130)},
      {"noise of 2 values 120x90", noise({120, 90}, 3, 254, 256)},
      {"clouds of sigma 2 211x157", clouds({211, 157}, 4, 2)},
      {"clouds of sigma 5 256x192", clouds({256, 192}, 5, 5)},
      {"clouds of sigma 9 301x199", clouds({301, 199}, 6, 9)},
      {"islands 240x120", islands({240, 120}, 7)},
      {"ramp 203x151", grey_ramp},
      {"uniform 0", cv::Mat(64, 90, CV_8UC1, cv::Scalar(0))},
      {"uniform 255", cv::Mat(90, 64, CV_8UC1, cv::Scalar(255))},
      {"checker 1", formula({120, 121}, [](int x, int y) { return (x + y) % 2 * 255; })},
      {"checker 7", formula({150, 119}, [](int x, int y) { return (x / 7 + y / 7) % 2 * 255; })},
      {"hyperbolas", formula({140, 140}, [](int x, int y) { return x * y / 16 % 256; })},
      {"rings",
       formula({199, 199},
               [](int x, int y) { return 128 + 127 * std::sin(std::hypot(x - 99, y - 99) / 4); })},
      {"drawn faces 430x130", drawn_faces()},
      {"exactly the window 24x24", clouds({24, 24}, 8, 3)},
      {"one column less than the window 23x24", clouds({23, 24}, 9, 3)},
      {"one row and column more than the window 25x25", clouds({25, 25}, 10, 3)},
      {"1x1", noise({1, 1}, 11)},
      {"wide strip 400x21", clouds({400, 21}, 12, 4)},
      {"tall strip 22x300", clouds({22, 300}, 13, 4)},
      {"prime 337x113", clouds({337, 113}, 14, 3)},
  };
}

std::vector<std::string> photograph_files() {
  std::vector<std::string> files;
  for (const auto& file : picture_files("FACESAT_ALBUM")) files.push_back(file);
  const std::vector<std::filesystem::path> data = picture_files("FACESAT_TEST_DATA");
  for (std::size_t i = 0; i < data.size(); i += 5) files.push_back(data[i]);
  return files;
}

std::vector<NamedPicture> photographs(std::size_t max_pixels) {
  std::vector<NamedPicture> pictures;
  for (const std::string& file : photograph_files()) {
    cv::Mat gray = cv::imread(file, cv::IMREAD_GRAYSCALE);
    if (gray.empty()) continue;
    if (gray.total() > max_pixels) {
      const double factor =
          std::sqrt(static_cast<double>(max_pixels) / static_cast<double>(gray.total()));
      cv::resize(gray, gray, {}, factor, factor, cv::INTER_AREA);
    }
    pictures.push_back({std::filesystem::path(file).filename().string(), gray});
  }
  return pictures;
}

}  // namespace facesat::test
