#include <fmt/format.h>

#include "media/input_file.hpp"
#include "media/opencv.hpp"
#include "media/source_name.hpp"
#include "media/source_openers.hpp"
#include "support/errors.hpp"

namespace facesat {
namespace {

namespace fs = std::filesystem;

// An absolute path, because FFmpeg takes a relative name such as "12:30.mp4" for a URL.
fs::path made_absolute(const fs::path& path) {
  std::error_code failure;
  fs::path result = fs::absolute(path, failure);
  return failure ? path : result;
}

constexpr SourceOpener* openers[] = {
#define FACESAT_SOURCE(open) open,
#include "media/sources.def"
#undef FACESAT_SOURCE
};

}  // namespace

// Opens no source, but throws if a file is missing or cannot be read.
std::unique_ptr<FrameSource> require_readable(const SourceRequest& request) {
  try {
    if (request.path) const InputFile readable(*request.path);
  } catch (const InputError& error) {
    throw InputError("read", fmt::format("{}: {}", request.name, error.what()));
  }
  return nullptr;
}

std::unique_ptr<FrameSource> open_source(const std::string& name, const CameraMode& mode) {
  SourceRequest request{name, camera_name(name), source_path(name), mode};
  if (request.path) request.path = made_absolute(*request.path);
  for (SourceOpener* const open : openers)
    if (std::unique_ptr<FrameSource> source = open(request)) return source;
  if (!has_opencv())
    throw InputError("read", fmt::format("this build reads no {} (it was made without OpenCV)",
                                         request.path ? "videos" : "cameras and no streams"));
  throw InputError("read", fmt::format("{}: this cannot be opened", name));
}

}  // namespace facesat
