// The functions that open_source() tries, one for each kind of source. Each returns null for a name
// that it does not handle, and throws InputError for one that it handles but cannot open.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "media/frame_source.hpp"

namespace facesat {

struct SourceRequest {
  std::string name;                           // as the user gave it
  std::optional<std::string> camera;          // as camera_name() gives it
  std::optional<std::filesystem::path> path;  // absolute; nullopt for cameras and streams
  CameraMode mode;
};
using SourceOpener = std::unique_ptr<FrameSource>(const SourceRequest& request);

#define FACESAT_SOURCE(open) SourceOpener open;
#include "media/sources.def"
#undef FACESAT_SOURCE

}  // namespace facesat
