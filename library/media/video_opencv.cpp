#include <algorithm>
#include <utility>

#include "library/media/input_file.hpp"
#include "library/media/matroska.hpp"
#include "library/media/opencv.hpp"
#include "library/media/video.hpp"
#include "library/support/errors.hpp"
#include <fmt/format.h>

namespace facesat {
namespace {

class OpenCvVideo final : public Video {
 public:
  OpenCvVideo(const std::filesystem::path& file, const InputFile& input, std::size_t max_pixels)
      // What has a colon would be taken for a URL.
      : capture_(opencv().open_video(std::filesystem::absolute(file).string())) {
    if (!capture_) throw InputError("decode", "this is not a video that can be decoded");
    const Size size{static_cast<int>(capture_->get(VideoInput::frame_width)),
                    static_cast<int>(capture_->get(VideoInput::frame_height))};
    is_matroska_ = is_matroska(input.beginning());
    if (const auto whole = matroska_size(input.beginning()); whole && *whole > input.size())
      warning_ = fmt::format("the video ends early: the file has {} of its {} bytes", input.size(),
                             *whole);
    if (size.area() > max_pixels) throw too_large(size, {.max_pixels = max_pixels});
    const double rate = capture_->get(VideoInput::fps);
    if (!(rate > 0)) return;
    step_ = 1 / rate;
    length_ = std::max(0.0, capture_->get(VideoInput::frame_count)) * step_;
  }

  std::optional<Frame> next() override {
    std::optional<Picture> picture = capture_->next();
    if (!picture) return std::nullopt;
    // FFmpeg gives no times to frames that the decoder held back until the end of the file.
    const double time = capture_->get(VideoInput::pos_msec) / 1000;
    time_ = !time_ ? std::max(time, 0.0) : time > *time_ ? time : *time_ + step_;
    return Frame{std::move(*picture), *time_};
  }

  // Containers state their length or it is estimated, so a little less is no reason to worry.
  std::string warning() const override {
    if (is_matroska_) return warning_;
    const double end = time_ ? *time_ + step_ : 0;
    if (length_ - end <= std::max(2 * step_, 0.02 * length_)) return "";
    return fmt::format("the video ends early: {:.2f} of its {:.2f} seconds can be decoded", end,
                       length_);
  }

 private:
  std::unique_ptr<VideoInput> capture_;
  double step_ = 0, length_ = 0;  // seconds; 0: unknown
  std::optional<double> time_;    // of the last frame
  bool is_matroska_ = false;
  std::string warning_;  // of a Matroska file
};

}  // namespace

std::unique_ptr<Video> open_video(const std::filesystem::path& file, std::size_t max_pixels) {
  const InputFile input(file);
  return std::make_unique<OpenCvVideo>(file, input, max_pixels);
}

const std::vector<std::string_view>& video_extensions() {
  static const std::vector<std::string_view> extensions{".avi",  ".mp4", ".m4v",  ".mov", ".mkv",
                                                        ".webm", ".mpg", ".mpeg", ".wmv", ".flv",
                                                        ".ogv",  ".3gp", ".ts",   ".mts"};
  return extensions;
}

}  // namespace facesat
