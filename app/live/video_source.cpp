#include "app/live/video_source.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "app/errors.hpp"

namespace facesat::app {

VideoSource::VideoSource(Kind kind, std::string title, std::unique_ptr<VideoInput> capture)
    : kind_(kind), title_(std::move(title)), capture_(std::move(capture)) {
  const double fps = capture_->get(VideoInput::fps);
  if (fps > 0) step_ = 1 / fps;
  if (kind_ == Kind::film) length_ = std::max(0.0, capture_->get(VideoInput::frame_count) * step_);
}

std::optional<LiveFrame> VideoSource::next() {
  const double position = kind_ == Kind::film ? capture_->get(VideoInput::pos_frames) * step_ : 0;
  std::optional<Picture> picture = capture_->next();
  if (picture)
    return LiveFrame{std::move(*picture), position, {}, std::chrono::steady_clock::now()};
  if (kind_ == Kind::film) return std::nullopt;
  throw InputError("read", fmt::format("{} gives no more frames", title_));
}

void VideoSource::seek(double position) {
  capture_->set(VideoInput::pos_frames, std::max(0.0, std::round(position / step_)));
}

}  // namespace facesat::app
