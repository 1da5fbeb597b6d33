#include "app/io/video_opencv.hpp"

#include <utility>

#include "app/errors.hpp"
#include "app/io/files.hpp"
#include "app/io/video.hpp"

namespace facesat::app {
namespace {

class OpenCvVideo final : public Video {
 public:
  explicit OpenCvVideo(const std::filesystem::path& file) : capture_(file.string()) {
    if (!capture_.isOpened()) throw InputError("decode", "this is not a film that can be decoded");
  }

  std::optional<Frame> next() override {
    std::optional<Picture> picture = next_picture(capture_);
    if (!picture) return std::nullopt;
    return Frame{std::move(*picture), capture_.get(cv::CAP_PROP_POS_MSEC) / 1000};
  }

 private:
  cv::VideoCapture capture_;
};

}  // namespace

std::optional<Picture> next_picture(cv::VideoCapture& capture) {
  auto image = std::make_shared<cv::Mat>();
  try {
    if (!capture.read(*image) || image->type() != CV_8UC3) return std::nullopt;
  } catch (const cv::Exception&) {
    return std::nullopt;
  }
  const View<const Bgr> pixels{reinterpret_cast<const Bgr*>(image->data),
                               {image->cols, image->rows},
                               static_cast<std::ptrdiff_t>(image->step / sizeof(Bgr))};
  return Picture{pixels, image, {}};
}

std::unique_ptr<Video> open_video(const std::filesystem::path& file) {
  require_readable(file);
  return std::make_unique<OpenCvVideo>(file);
}

const std::vector<std::string_view>& video_extensions() {
  static const std::vector<std::string_view> extensions{".avi",  ".mp4", ".m4v",  ".mov", ".mkv",
                                                        ".webm", ".mpg", ".mpeg", ".wmv", ".flv",
                                                        ".ogv",  ".3gp", ".ts",   ".mts"};
  return extensions;
}

}  // namespace facesat::app
