#include "results/picture_names.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "media/video_file.hpp"
#include "support/files.hpp"

namespace facesat {
namespace {

namespace fs = std::filesystem;

// Can a picture with this name be written in its own format?
bool can_be_written(const fs::path& name) {
  return has_extension(name, {".jpg", ".jpeg", ".jpe", ".jfif", ".png"});
}

// The name of the picture or video that a frame or crop with this name would be made from.
std::optional<std::string_view> origin_of(std::string_view name) {
  const std::size_t dot = name.rfind('.'), line = name.rfind('_', dot);
  if (dot == name.npos || line == name.npos || line + 1 == dot) return std::nullopt;
  const bool is_number = std::all_of(name.begin() + static_cast<std::ptrdiff_t>(line) + 1,
                                     name.begin() + static_cast<std::ptrdiff_t>(dot),
                                     [](char c) { return c >= '0' && c <= '9'; });
  return is_number ? std::optional(name.substr(0, line)) : std::nullopt;
}

}  // namespace

std::string name_below(const std::string& image, bool is_video) {
  fs::path name = image == "-" ? "stdin" : image;  // a picture on standard input
  const bool escapes =
      name.is_absolute() || std::find(name.begin(), name.end(), "..") != name.end();
  name = escapes ? name.filename() : name.lexically_normal();
  if (!is_video && !can_be_written(name)) name += ".png";
  return name.string();
}

// Is the name unused, does no used name look like that of a frame or crop of it, and does it not
// look like that of a frame or crop of a used name?
bool PictureNames::is_free(std::string_view name) const {
  const std::optional<std::string_view> origin = origin_of(name);
  return !used_.contains(name) && !origins_.contains(name) && !(origin && used_.contains(*origin));
}

std::string PictureNames::add(const std::string& image, bool is_video) {
  const fs::path name = name_below(image, is_video);
  std::string candidate = name.string();
  const auto is_taken = [&] {
    return !is_free(candidate) || (is_video && !is_free(of_video(candidate)));
  };
  const std::string stem = (name.parent_path() / name.stem()).string();
  // STEM_2 would look like a frame or crop of STEM.
  const char* const separator = used_.contains(std::string_view(stem)) ? "-" : "_";
  for (int n = 2; is_taken(); ++n)
    candidate = fmt::format("{}{}{}{}", stem, separator, n, name.extension().string());
  used_.emplace(candidate);
  if (is_video) used_.emplace(of_video(candidate));
  if (const std::optional<std::string_view> origin = origin_of(candidate))
    origins_.emplace(*origin);
  return candidate;
}

std::string PictureNames::of_frame(const std::string& video, int frame) {
  return fmt::format("{}_{:06}.jpg", video, frame);
}

std::string PictureNames::of_video(const std::string& video) {
  return VideoFile::knows(video) ? video : video + ".mkv";
}

std::string PictureNames::of_crop(const std::string& picture, int face) {
  return fmt::format("{}_{}.png", picture, face);
}

}  // namespace facesat
