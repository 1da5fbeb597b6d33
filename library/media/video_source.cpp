#include "library/media/video_source.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "library/support/errors.hpp"
#include <fmt/format.h>

namespace facesat {

VideoSource::VideoSource(Kind kind, std::string title, std::unique_ptr<VideoInput> capture)
    : kind_(kind), title_(std::move(title)), capture_(std::move(capture)) {
  const double fps = capture_->get(VideoInput::fps);
  if (fps > 0) step_ = 1 / fps;
  if (kind_ == Kind::video) length_ = std::max(0.0, capture_->get(VideoInput::frame_count) * step_);
}

std::optional<LiveFrame> VideoSource::next() {
  const double position = kind_ == Kind::video ? capture_->get(VideoInput::pos_frames) * step_ : 0;
  std::optional<Picture> picture = capture_->next();
  if (picture) {
    has_frames_ = true;
    return LiveFrame{std::move(*picture), position, {}, std::chrono::steady_clock::now()};
  }
  if (kind_ != Kind::video)
    throw InputError("read", fmt::format("{}: it gives no more frames", title_));
  if (!has_frames_ && position == 0)
    throw InputError("decode", fmt::format("{}: no frame of this video can be decoded", title_));
  return std::nullopt;
}

void VideoSource::seek(double position) {
  capture_->set(VideoInput::pos_frames, std::max(0.0, std::round(position / step_)));
}

}  // namespace facesat
