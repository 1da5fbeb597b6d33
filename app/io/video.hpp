// Films, frame by frame. video_opencv.cpp reads them; builds without OpenCV cannot.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "app/io/codec.hpp"

namespace facesat::app {

struct Frame {
  Picture picture;
  double time = 0;  // seconds from the start of the film
};

class Video {
 public:
  virtual ~Video() = default;
  // The next frame, or nothing at the end.
  virtual std::optional<Frame> next() = 0;
};

// Throws InputError.
std::unique_ptr<Video> open_video(const std::filesystem::path& file);

// File name extensions of films, in lower case with the dot; none if this build reads no films.
const std::vector<std::string_view>& video_extensions();

}  // namespace facesat::app
