#include <algorithm>
#include <cctype>
#include <string_view>

#include <fmt/format.h>

#include "library/media/input_file.hpp"
#include "library/media/source_openers.hpp"
#include "library/support/errors.hpp"

namespace facesat {
namespace {

namespace fs = std::filesystem;

bool is_number(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](unsigned char c) { return std::isdigit(c) != 0; });
}

// Numbers of five or more digits are taken for file names.
bool is_camera(const std::string& name) {
  return name.empty() || (is_number(name) && name.size() < 5) || name.starts_with("/dev/video");
}

// Is this a URL, which begins with "rtsp://", "https://" and the like?
bool begins_with_scheme(const std::string& name) {
  const std::size_t end = name.find("://");
  return end != std::string::npos && end > 0 &&
         std::isalpha(static_cast<unsigned char>(name.front())) != 0 &&
         std::all_of(name.begin(), name.begin() + static_cast<std::ptrdiff_t>(end),
                     [](unsigned char c) {
                       return std::isalnum(c) != 0 || c == '+' || c == '.' || c == '-';
                     });
}

// An absolute path, because FFmpeg takes a relative name such as "12:30.mp4" for a URL.
fs::path made_absolute(const fs::path& path) {
  std::error_code failure;
  fs::path result = fs::absolute(path, failure);
  return failure ? path : result;
}

constexpr SourceOpener* openers[] = {
#define FACESAT_SOURCE(open) open,
#include "library/media/sources.def"
#undef FACESAT_SOURCE
};

}  // namespace

std::optional<fs::path> source_path(const std::string& name) {
  constexpr std::string_view file_scheme = "file://";
  std::error_code ignored;
  if (is_camera(name)) return std::nullopt;
  if (fs::exists(name, ignored)) return name;
  if (name.starts_with(file_scheme)) return name.substr(file_scheme.size());
  return begins_with_scheme(name) ? std::nullopt : std::optional<fs::path>(name);
}

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
  SourceRequest request{name, is_camera(name), source_path(name), mode};
  if (request.path) request.path = made_absolute(*request.path);
  for (SourceOpener* const open : openers)
    if (std::unique_ptr<FrameSource> source = open(request)) return source;
  throw InputError("read", fmt::format("{}: this cannot be opened", name));
}

}  // namespace facesat
