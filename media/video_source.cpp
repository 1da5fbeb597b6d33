#include "media/video_source.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "core/backend.hpp"
#include "media/codec_formats.hpp"
#include "support/errors.hpp"
#include "support/interrupt.hpp"

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

// FFmpeg gives no timestamps to frames that the decoder held back until the end of the file: they
// follow the frame before them by one step. Those of cameras and streams begin anywhere.
double VideoSource::time_at(Clock::time_point now) const {
  if (kind_ != Kind::video)
    return std::chrono::duration<double>(now - start_.value_or(now)).count();
  const double time = capture_->get(VideoInput::pos_msec) / 1000, step = is_rate_known_ ? step_ : 0;
  return !time_ ? std::max(time, 0.0) : time > *time_ ? time : *time_ + step;
}

void VideoSource::decode_jpegs() {
  capture_->set(VideoInput::convert_rgb, 0);
  gives_jpegs_ = capture_->get(VideoInput::convert_rgb) == 0;
}

// nullopt: the frame is damaged, as one of a camera may be now and then. What can be decoded of it
// is shown without a warning.
std::optional<Picture> VideoSource::decode() {
  constexpr int most_damaged_in_a_row = 30;
  const std::span<const unsigned char> jpeg = capture_->retrieve_encoded();
  decode_ms_ = 0;
  try {
    const Stopwatch watch(decode_ms_);
    Picture picture = read_jpeg(jpeg);
    picture.warning.clear();
    damaged_in_a_row_ = 0;
    return picture;
  } catch (const MemoryError& error) {
    throw InputError("memory", fmt::format("{}: {}", title_, error.what()));
  } catch (const InputError& error) {
    if (++damaged_in_a_row_ < most_damaged_in_a_row) return std::nullopt;
    throw InputError(error.kind, fmt::format("{}: {}", title_, error.what()));
  }
}

// With a number of frames per second, time is divided into ticks; the first frame in each is
// chosen. A frame may be early by what containers that store milliseconds lose.
bool VideoSource::is_chosen(int number, double time) {
  if (choice_.per_second > 0) {
    constexpr double rounding = 0.001;
    const double tick = std::floor((time + rounding) * choice_.per_second);
    return tick > std::exchange(tick_, std::max(tick, tick_));
  }
  return choice_.every == 0 || number % choice_.every == 0;
}

std::optional<Frame> VideoSource::next() {
  double position = 0;
  do {
    position = kind_ == Kind::video ? capture_->get(VideoInput::pos_frames) * step_ : 0;
    if (!capture_->grab()) break;
    const Clock::time_point now = Clock::now();
    const double time = time_at(now);
    const int number = number_++;
    const bool chosen = is_chosen(number, time);
    std::optional<Picture> picture;
    if (chosen) picture = gives_jpegs_ ? decode() : capture_->retrieve(frame_or_none);
    if (chosen && !picture && !gives_jpegs_) break;
    has_frames_ = true;
    time_ = time;
    if (!start_) start_ = now;
    if (picture) return Frame{std::move(*picture), number, position, time, {}, now, decode_ms_};
  } while (!interrupted());
  if (interrupted()) return std::nullopt;
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
  number_ = static_cast<int>(std::lround(std::max(0.0, position / step_)));
  tick_ = -1;
  time_.reset();
}

}  // namespace facesat
