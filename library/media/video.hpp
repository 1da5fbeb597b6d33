// Videos, frame by frame. video_opencv.cpp reads them; builds without OpenCV cannot.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "library/media/codec.hpp"

namespace facesat {

struct Frame {
  Picture picture;
  double time = 0;  // seconds from the start of the video
};

class Video {
 public:
  virtual ~Video() = default;
  // The next frame, or nothing at the end.
  virtual std::optional<Frame> next() = 0;
  // Once there are no more frames: a sentence if there should be more; else empty.
  virtual std::string warning() const = 0;
};

// Throws InputError, also for frames of more than `max_pixels`.
std::unique_ptr<Video> open_video(const std::filesystem::path& file, std::size_t max_pixels);

// File name extensions of videos, in lower case with the dot; none if this build reads no videos.
const std::vector<std::string_view>& video_extensions();

}  // namespace facesat
