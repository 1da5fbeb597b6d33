#include "app/live/detection/recorder.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <utility>

#include <fmt/format.h>

#include "media/video_file.hpp"
#include "results/annotate.hpp"
#include "support/errors.hpp"

namespace facesat::app {

struct Recorder::Video {
  VideoFile file;
  Image<Bgr> last;                // the frame written last,
  std::optional<double> seconds;  // and when it was taken
};

Recorder::Recorder() = default;
Recorder::~Recorder() = default;

void Recorder::set(const std::string& file, double frames_per_second) {
  const std::scoped_lock lock(mutex_);
  try {
    finish();
  } catch (...) {
    fail(reason_of(std::current_exception()));
  }
  file_ = file;
  frames_per_second_ = frames_per_second;
  if (file.empty()) return;  // the messages about the previous video stay
  const std::scoped_lock said(messages_mutex_);
  remark_.clear();
  failure_.clear();
}

void Recorder::add(View<const Bgr> frame, const std::vector<Face>& faces, const Timing& timing) {
  const std::scoped_lock lock(mutex_);
  if (file_.empty()) return;
  try {
    if (!video_) begin(frame.size, timing.frames_per_second);
    if (frame.size != video_->file.size()) {
      const std::scoped_lock said(messages_mutex_);
      remark_ = fmt::format("{}: frames of another size than {} x {} are left out", file_,
                            video_->file.size().width, video_->file.size().height);
      return;
    }
    fill_gap(timing);
    video_->last = with_boxes(frame, faces);
    video_->seconds = timing.seconds;
    video_->file.add(video_->last.view());
  } catch (...) {
    fail(reason_of(std::current_exception()));
  }
}

void Recorder::fill_gap(const Timing& timing) {
  if (!timing.seconds || !video_->seconds) return;
  const double rate = video_->file.frames_per_second(),
               missing = std::round((*timing.seconds - *video_->seconds) * rate) - 1;
  for (double i = 0; i < std::min(missing, rate); ++i) video_->file.add(video_->last.view());
}

void Recorder::begin(Size size, double frames_per_second) {
  constexpr double usual = 25;  // for pictures, which have no rate
  if (frames_per_second_ != 0) frames_per_second = frames_per_second_;
  if (frames_per_second == 0) frames_per_second = usual;
  video_ = std::make_unique<Video>(
      Video{.file = VideoFile(file_, frames_per_second, size), .last = {}, .seconds = {}});
}

void Recorder::finish() {
  if (!video_) return;
  const std::unique_ptr<Video> video = std::move(video_);
  video->file.finish();
}

void Recorder::fail(const std::string& reason) {
  {
    const std::scoped_lock said(messages_mutex_);
    failure_ = fmt::format("{}: {}", file_, reason);
  }
  file_.clear();
  video_.reset();
}

std::string Recorder::remark() const {
  const std::scoped_lock said(messages_mutex_);
  return remark_;
}

std::string Recorder::failure() const {
  const std::scoped_lock said(messages_mutex_);
  return failure_;
}

}  // namespace facesat::app
