#include "media/video_file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <sys/statvfs.h>

#include "support/errors.hpp"

namespace facesat {
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
  const auto* const found = std::find_if(
      containers.begin(), containers.end(),
      [&](const Container& container) { return has_extension(file, {container.extension}); });
  return found == containers.end() ? nullptr : found;
}

}  // namespace

bool VideoFile::knows(const fs::path& file) {
  return container_of(file) != nullptr;
}

std::string VideoFile::extensions() {
  std::vector<std::string_view> all;
  for (const Container& container : containers) all.push_back(container.extension);
  const std::string_view last = all.back();
  all.pop_back();
  return fmt::format("{} or {}", fmt::join(all, ", "), last);
}

VideoFile::VideoFile(const fs::path& file, double frames_per_second, Size size)
    : path_(fs::absolute(file)), size_(size), frames_per_second_(frames_per_second) {
  if (const Container* const container = container_of(file))
    writer_ = opencv().write_video(path_.string(), container->codec, frames_per_second, size);
  if (!writer_) throw OutputError("the video cannot be written");
  identity_ = file_identity(path_);
}

// The writer reports neither.
void VideoFile::require_place() const {
  if (!identity_ || file_identity(path_) != identity_)
    throw OutputError("the file was deleted or replaced while it was being recorded");
  struct statvfs disk {};
  if (::statvfs(path_.c_str(), &disk) == 0 && disk.f_bavail == 0)
    throw OutputError("the video was not written to its end: the disk is full", ENOSPC);
}

void VideoFile::add(View<const Bgr> frame) {
  require_place();
  writer_->add(frame);
  ++frames_;
}

void VideoFile::finish() {
  writer_.reset();
  require_place();
  require_whole(path_);
}

// The writer does not report a full disk, so the video is opened to check it. If the disk was full,
// the video has no index, so that it cannot be opened or reports no number of frames; or it just
// lacks its last frames. Only half the frames are required, because some containers round their
// number.
void VideoFile::require_whole(const fs::path& video) const {
  const std::unique_ptr<VideoInput> written = opencv().open_video(video.string());
  const double frames = written ? written->get(VideoInput::frame_count) : 0;
  if (!(frames > static_cast<double>(frames_) / 2))
    throw OutputError("the video was not written to its end; is the disk full?");
}

}  // namespace facesat
