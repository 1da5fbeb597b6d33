// What open_source() tries, one function for each kind of source. Each gives null for what it does
// not take, and throws InputError for what it takes and cannot open.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "library/media/frame_source.hpp"

namespace facesat {

struct SourceRequest {
  std::string name;  // as the user gave it
  bool is_camera = false;
  std::optional<std::filesystem::path> path;  // absolute; nothing for cameras and streams
  CameraMode mode;
};
using SourceOpener = std::unique_ptr<FrameSource>(const SourceRequest& request);

SourceOpener open_camera, open_stream, open_folder, open_animation, open_picture, open_video_file;

}  // namespace facesat
