// OpenCV's detector and ours behind the same small interface, with comparable results, and the
// pictures on which they are compared: generated ones, so that the test also runs on a fresh
// machine, and, where present, photographs of the demo album (environment variable FACESAT_ALBUM)
// and of a folder with test data (FACESAT_TEST_DATA).
#pragma once

#include <string>
#include <vector>

#include <opencv2/core.hpp>
#include <opencv2/objdetect.hpp>

#include "core/frame_detector.hpp"
#include "tests/kit/printers.hpp"

namespace facesat::test {

inline View<const std::uint8_t> view_of(const cv::Mat& gray) {
  return {gray.data, {gray.cols, gray.rows}, static_cast<std::ptrdiff_t>(gray.step)};
}

inline View<const Bgr> colour_view(const cv::Mat& picture) {
  return {reinterpret_cast<const Bgr*>(picture.data), {picture.cols, picture.rows}, picture.cols};
}

inline cv::Mat random_picture(cv::Size size, cv::RNG& random, int low = 0, int high = 256,
                              int type = CV_8UC1) {
  cv::Mat picture(size, type);
  random.fill(picture, cv::RNG::UNIFORM, low, high);
  return picture;
}

inline cv::Size to_cv(Size size) {
  return {size.width, size.height};
}
inline Rect from_cv(const cv::Rect& r) {
  return {r.x, r.y, r.width, r.height};
}

// On one thread: with several, OpenCV's order varies from call to call.
inline std::vector<Rect> detect_opencv(cv::CascadeClassifier& cascade, const cv::Mat& gray,
                                       const DetectOptions& o) {
  std::vector<cv::Rect> rects;
  cv::setNumThreads(1);
  cascade.detectMultiScale(gray, rects, o.scale_factor, o.min_neighbors, 0, to_cv(o.min_size),
                           to_cv(o.max_size));
  std::vector<Rect> result;
  for (const cv::Rect& r : rects) result.push_back(from_cv(r));
  return result;
}

struct NamedPicture {
  std::string name;
  cv::Mat gray;  // CV_8UC1
};

// Noise, gradients, uniform areas, patterns and odd sizes; the same on every machine.
std::vector<NamedPicture> generated_pictures();

// Their files: all of the album, and every fifth of the test data.
std::vector<std::string> photograph_files();

// Photographs, at most `max_pixels` each (larger ones are reduced). Empty if there are none.
std::vector<NamedPicture> photographs(std::size_t max_pixels);

}  // namespace facesat::test
