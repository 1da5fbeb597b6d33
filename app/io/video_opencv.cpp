#include <utility>

#include "app/errors.hpp"
#include "app/io/files.hpp"
#include "app/io/video.hpp"
#include "app/opencv/opencv.hpp"

namespace facesat::app {
namespace {

class OpenCvVideo final : public Video {
 public:
  explicit OpenCvVideo(const std::filesystem::path& file)
      : capture_(opencv().open_video(file.string())) {
    if (!capture_) throw InputError("decode", "this is not a film that can be decoded");
  }

  std::optional<Frame> next() override {
    std::optional<Picture> picture = capture_->next();
    if (!picture) return std::nullopt;
    return Frame{std::move(*picture), capture_->get(VideoInput::pos_msec) / 1000};
  }

 private:
  std::unique_ptr<VideoInput> capture_;
};

}  // namespace

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
