#include "app/live/detection/recorder.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <exception>
#include <utility>

#include <fmt/format.h>
#include <sys/statvfs.h>

#include "library/io/annotate.hpp"
#include "library/media/opencv.hpp"
#include "library/support/errors.hpp"
#include "library/support/same_file.hpp"

namespace facesat::app {
namespace {

namespace fs = std::filesystem;

struct Container {
  std::string_view extension;
  const char* codec;
};
// Containers that FFmpeg can write and read with these codecs.
constexpr std::array<Container, 5> containers{
    {{".avi", "MJPG"}, {".m4v", "mp4v"}, {".mkv", "MJPG"}, {".mov", "mp4v"}, {".mp4", "mp4v"}}};

const Container* container_of(const fs::path& file) {
  std::string extension = file.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const auto* const found =
      std::find_if(containers.begin(), containers.end(),
                   [&](const Container& container) { return container.extension == extension; });
  return found == containers.end() ? nullptr : found;
}

}  // namespace

struct Recorder::Video {
  fs::path path;  // absolute, because FFmpeg takes a relative name with a colon for a URL
  std::unique_ptr<VideoWriter> writer;
  Size size;
  std::optional<FileIdentity> identity;  // nullopt: it was deleted right after it was created
  long frames = 0;
  double frames_per_second = 0;
  Image<Bgr> last;                // the frame written last,
  std::optional<double> seconds;  // and when it was taken

  // Throws OutputError if the file is gone or the disk is full: the writer reports neither.
  void require_place() const {
    if (!identity || file_identity(path) != identity)
      throw OutputError("the file was deleted or replaced while it was being recorded");
    struct statvfs disk {};
    if (::statvfs(path.c_str(), &disk) == 0 && disk.f_bavail == 0)
      throw OutputError("the video was not written to its end: the disk is full");
  }
};

Recorder::Recorder() = default;
Recorder::~Recorder() = default;

bool Recorder::knows(const fs::path& file) {
  return container_of(file) != nullptr;
}

std::string Recorder::extensions() {
  std::string text;
  for (std::size_t i = 0; i < containers.size(); ++i)
    text += fmt::format("{}{}",
                        i == 0                      ? ""
                        : i + 1 < containers.size() ? ", "
                                                    : " or ",
                        containers[i].extension);
  return text;
}

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
    if (frame.size != video_->size) {
      const std::scoped_lock said(messages_mutex_);
      remark_ = fmt::format("{}: frames of another size than {} x {} are left out", file_,
                            video_->size.width, video_->size.height);
      return;
    }
    video_->require_place();
    fill_gap(timing);
    video_->last = with_boxes(frame, faces);
    video_->seconds = timing.seconds;
    video_->writer->add(video_->last.view());
    ++video_->frames;
  } catch (...) {
    fail(reason_of(std::current_exception()));
  }
}

void Recorder::fill_gap(const Timing& timing) {
  if (!timing.seconds || !video_->seconds) return;
  const double missing =
      std::round((*timing.seconds - *video_->seconds) * video_->frames_per_second) - 1;
  for (double i = 0; i < std::min(missing, video_->frames_per_second); ++i) {
    video_->writer->add(video_->last.view());
    ++video_->frames;
  }
}

void Recorder::begin(Size size, double frames_per_second) {
  constexpr double usual = 25;  // for pictures, which have no rate
  if (frames_per_second_ != 0) frames_per_second = frames_per_second_;
  if (frames_per_second == 0) frames_per_second = usual;
  auto video = std::make_unique<Video>();
  video->path = fs::absolute(file_);
  video->size = size;
  const Container* const container = container_of(file_);
  if (container)
    video->writer =
        opencv().write_video(video->path.string(), container->codec, frames_per_second, size);
  if (!video->writer) throw OutputError("the video cannot be written");
  video->identity = file_identity(video->path);
  video->frames_per_second = frames_per_second;
  video_ = std::move(video);
}

// The writer does not report a full disk, so the video is opened to check it. If the disk was full,
// the video has no index, so that it cannot be opened or reports no number of frames; or it just
// lacks its last frames. Only half the frames are required, because some containers round their
// number.
void Recorder::finish() {
  if (!video_) return;
  const std::unique_ptr<Video> video = std::move(video_);
  video->writer.reset();
  video->require_place();
  const std::unique_ptr<VideoInput> written = opencv().open_video(video->path.string());
  const double frames = written ? written->get(VideoInput::frame_count) : 0;
  if (!(frames > static_cast<double>(video->frames) / 2))
    throw OutputError("the video was not written to its end; is the disk full?");
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
