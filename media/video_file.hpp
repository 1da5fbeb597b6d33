// Writes videos.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "core/image.hpp"
#include "media/opencv.hpp"
#include "support/files.hpp"

namespace facesat {

class VideoFile {
 public:
  // Can a video be written under this name? Decided by its extension.
  static bool knows(const std::filesystem::path& file);
  static std::string extensions();  // the known ones, in words

  // Creates the video, replacing any file of that name. Throws OutputError.
  VideoFile(const std::filesystem::path& file, double frames_per_second, Size size);

  Size size() const { return size_; }
  double frames_per_second() const { return frames_per_second_; }

  // Adds a frame of that size. Throws OutputError if the file is gone, or the disk is full.
  void add(View<const Bgr> frame);
  // There are no more frames. Throws OutputError if the video is incomplete.
  void finish();
  // Throws OutputError if `video`, this one or a copy of it, is incomplete.
  void require_whole(const std::filesystem::path& video) const;

 private:
  void require_place() const;

  std::filesystem::path path_;  // absolute, because FFmpeg takes a relative name with a colon for a
                                // URL
  Size size_;
  double frames_per_second_;
  std::unique_ptr<VideoWriter> writer_;
  std::optional<FileIdentity> identity_;  // nullopt: it was deleted right after it was created
  long frames_ = 0;
};

}  // namespace facesat
