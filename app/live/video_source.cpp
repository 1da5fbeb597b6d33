#include "app/live/video_source.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "app/errors.hpp"
#include "app/io/video_opencv.hpp"

namespace facesat::app {

VideoSource::VideoSource(Kind kind, std::string title, cv::VideoCapture capture)
    : kind_(kind), title_(std::move(title)), capture_(std::move(capture)) {
  const double fps = capture_.get(cv::CAP_PROP_FPS);
  if (fps > 0) step_ = 1 / fps;
  if (kind_ == Kind::film) length_ = std::max(0.0, capture_.get(cv::CAP_PROP_FRAME_COUNT) * step_);
}

std::optional<LiveFrame> VideoSource::next() {
  const double position = kind_ == Kind::film ? capture_.get(cv::CAP_PROP_POS_FRAMES) * step_ : 0;
  std::optional<Picture> picture = next_picture(capture_);
  if (picture)
    return LiveFrame{std::move(*picture), position, {}, std::chrono::steady_clock::now()};
  if (kind_ == Kind::film) return std::nullopt;
  throw InputError("read", fmt::format("{} gives no more frames", title_));
}

void VideoSource::seek(double position) {
  capture_.set(cv::CAP_PROP_POS_FRAMES, std::max(0.0, std::round(position / step_)));
}

}  // namespace facesat::app
