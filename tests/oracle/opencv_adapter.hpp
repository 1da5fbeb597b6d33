// OpenCV's detector and ours behind the same small interface, with comparable results.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include <opencv2/core.hpp>
#include <opencv2/objdetect.hpp>

#include "core/frame_detector.hpp"

namespace facesat {

inline void PrintTo(const Rect& r, std::ostream* out) {
  *out << "(" << r.x << "," << r.y << " " << r.width << "x" << r.height << ")";
}

namespace test {

inline View<const std::uint8_t> view_of(const cv::Mat& gray) {
  return {gray.data, {gray.cols, gray.rows}, static_cast<std::ptrdiff_t>(gray.step)};
}

inline cv::Size to_cv(Size size) {
  return {size.width, size.height};
}
inline Rect from_cv(const cv::Rect& r) {
  return {r.x, r.y, r.width, r.height};
}

inline std::vector<Rect> boxes(const std::vector<Face>& faces) {
  std::vector<Rect> result;
  for (const Face& face : faces) result.push_back(face.box);
  return result;
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

}  // namespace test
}  // namespace facesat
