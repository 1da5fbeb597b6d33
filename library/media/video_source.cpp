#include "library/media/video_source.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "library/support/errors.hpp"

namespace facesat {
namespace {

// Where there is no memory, OpenCV will find out.
NewFrame<Bgr> frame_or_none(Size size) {
  try {
    return new_frame<Bgr>({std::max(0, size.width), std::max(0, size.height)});
  } catch (const MemoryError&) {
    return {};
  }
}

// Frames without times, as JPEGs one after the other are, have no length; for their rate FFmpeg
// takes 25 per second, but may then state a million.
double frame_rate(const VideoInput& capture) {
  constexpr double of_frames_without_times = 25, highest = 1000;
  const double rate = capture.get(VideoInput::fps);
  const bool has_length = capture.get(VideoInput::frame_count) >= 0;
  return rate > highest && !has_length ? of_frames_without_times : rate;
}

}  // namespace

VideoSource::VideoSource(Kind kind, std::string title, std::unique_ptr<VideoInput> capture)
    : kind_(kind), title_(std::move(title)), capture_(std::move(capture)) {
  const double rate = frame_rate(*capture_);
  is_rate_known_ = rate > 0;
  if (is_rate_known_) step_ = 1 / rate;
  if (kind_ == Kind::video) length_ = std::max(0.0, capture_->get(VideoInput::frame_count) * step_);
}

std::optional<Frame> VideoSource::next() {
  const double position = kind_ == Kind::video ? capture_->get(VideoInput::pos_frames) * step_ : 0;
  std::optional<Picture> picture = capture_->next(frame_or_none);
  if (picture) {
    has_frames_ = true;
    // FFmpeg gives no timestamps to frames that the decoder held back until the end of the file:
    // they follow the frame before them by one step.
    const double time = capture_->get(VideoInput::pos_msec) / 1000,
                 step = is_rate_known_ ? step_ : 0;
    time_ = !time_ ? std::max(time, 0.0) : time > *time_ ? time : *time_ + step;
    return Frame{std::move(*picture), position, *time_, {}, std::chrono::steady_clock::now()};
  }
  if (kind_ != Kind::video)
    throw InputError("read", fmt::format("{}: no more frames arrive", title_));
  if (!has_frames_ && position == 0)
    throw InputError("decode", fmt::format("{}no frame of this video can be decoded",
                                           title_.empty() ? "" : title_ + ": "));
  return std::nullopt;
}

// The length is stated by the container or estimated, so a small difference is normal.
std::string VideoSource::warning() const {
  if (known_warning_) return *known_warning_;
  const double end = time_ ? *time_ + step_ : 0;
  if (!is_rate_known_ || length_ - end <= std::max(2 * step_, 0.02 * length_)) return "";
  return fmt::format("the video ends early: {:.2f} of its {:.2f} seconds can be decoded", end,
                     length_);
}

void VideoSource::seek(double position) {
  capture_->set(VideoInput::pos_frames, std::max(0.0, std::round(position / step_)));
  time_.reset();
}

}  // namespace facesat
