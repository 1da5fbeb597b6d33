// What the parts of the library that opencv() loads have in common, and OpenCV's windows.
#pragma once

#include <opencv2/core.hpp>

#include "media/opencv.hpp"

namespace facesat::module {

// The matrix borrows the pixels. The const_cast is safe, because OpenCV does not write to its
// inputs.
inline cv::Mat to_mat(View<const Bgr> pixels) {
  return {pixels.size.height, pixels.size.width, CV_8UC3, const_cast<Bgr*>(pixels.data),
          static_cast<std::size_t>(pixels.pitch) * sizeof(Bgr)};
}
inline cv::Mat to_mat(View<const std::uint8_t> gray) {
  return {gray.size.height, gray.size.width, CV_8UC1, const_cast<std::uint8_t*>(gray.data),
          static_cast<std::size_t>(gray.pitch)};
}

// `image` must be of type CV_8UC3.
inline Picture to_picture(const std::shared_ptr<cv::Mat>& image) {
  const Size size{image->cols, image->rows};
  const auto step = static_cast<std::ptrdiff_t>(image->step);
  constexpr std::ptrdiff_t pixel = sizeof(Bgr);
  return {{reinterpret_cast<const Bgr*>(image->data), size, step / pixel}, image, {}, {}};
}

#ifdef FACESAT_OBJDETECT
std::unique_ptr<Contender> make_contender(const std::string& cascade_file,
                                          const DetectOptions& options);
#endif

}  // namespace facesat::module
