#include "library/media/source.hpp"

#include <algorithm>
#include <cctype>
#include <exception>
#include <filesystem>
#include <utility>
#include <vector>

#include "library/media/camera.hpp"
#include "library/media/input_file.hpp"
#include "library/media/video_source.hpp"
#include "library/support/errors.hpp"
#include "library/support/files.hpp"
#include <fmt/format.h>

namespace facesat {
namespace {

namespace fs = std::filesystem;

using Clock = std::chrono::steady_clock;

bool is_number(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](unsigned char c) { return std::isdigit(c) != 0; });
}

bool is_camera(const std::string& name) {
  return name.empty() || (is_number(name) && name.size() < 5) || name.starts_with("/dev/video");
}

// "rtsp://", "https://" ...
bool begins_with_scheme(const std::string& name) {
  const std::size_t end = name.find("://");
  return end != std::string::npos && end > 0 &&
         std::isalpha(static_cast<unsigned char>(name.front())) != 0 &&
         std::all_of(name.begin(), name.begin() + static_cast<std::ptrdiff_t>(end),
                     [](unsigned char c) {
                       return std::isalnum(c) != 0 || c == '+' || c == '.' || c == '-';
                     });
}

// A name that FFmpeg cannot take for a URL, as it does with "12:30.mp4".
fs::path made_absolute(const fs::path& path) {
  std::error_code failure;
  fs::path result = fs::absolute(path, failure);
  return failure ? path : result;
}

class PictureSource final : public Source {
 public:
  PictureSource(std::string title, std::vector<fs::path> files)
      : title_(std::move(title)), files_(std::move(files)) {}

  Kind kind() const override { return Kind::pictures; }
  std::string title() const override { return title_; }
  double length() const override { return static_cast<double>(files_.size()); }

  std::optional<LiveFrame> next() override {
    if (next_ >= files_.size()) return std::nullopt;
    const std::size_t number = next_++;
    const fs::path& file = files_[number];
    try {
      return LiveFrame{read_picture(file), static_cast<double>(number), file.filename().string(),
                       Clock::now()};
    } catch (...) {
      const std::string reason = reason_of(std::current_exception());
      throw InputError("decode", fmt::format("{}: {}", file.filename().string(), reason));
    }
  }

  void seek(double position) override {
    next_ = static_cast<std::size_t>(std::clamp(position, 0.0, length()));
  }

 private:
  std::string title_;
  std::vector<fs::path> files_;
  std::size_t next_ = 0;
};

bool is_picture(const fs::path& file) {
  return has_extension(file, picture_extensions());
}

std::unique_ptr<Source> open_folder(const std::string& name, const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code failure;
  for (fs::directory_iterator entry(folder, failure), end; !failure && entry != end;
       entry.increment(failure))
    if (is_picture(entry->path()) && entry->path().filename().string().front() != '.')
      files.push_back(entry->path());
  if (failure)
    throw InputError("read",
                     fmt::format("{}: this folder cannot be read: {}", name, failure.message()));
  if (files.empty())
    throw InputError("read", fmt::format("{}: there are no pictures in this folder", name));
  std::sort(files.begin(), files.end());
  return std::make_unique<PictureSource>(name, std::move(files));
}

std::unique_ptr<Source> open_video(Source::Kind kind, const std::string& name,
                                   const std::string& address) {
  std::unique_ptr<VideoInput> capture = opencv().open_video(address);
  if (!capture && kind == Source::Kind::stream)
    throw InputError("read",
                     fmt::format("{}: this stream cannot be opened; is its address right?", name));
  if (!capture)
    throw InputError("decode", fmt::format("{}: this is neither a video nor a picture that can be "
                                           "decoded",
                                           name));
  // What has an end is a video, wherever it comes from, and keeps its pace.
  if (capture->get(VideoInput::frame_count) > 0) kind = Source::Kind::video;
  return std::make_unique<VideoSource>(kind, name, std::move(capture));
}

}  // namespace

std::optional<fs::path> source_path(const std::string& name) {
  constexpr std::string_view file_scheme = "file://";
  std::error_code ignored;
  if (is_camera(name)) return std::nullopt;
  if (fs::exists(name, ignored)) return name;
  if (name.starts_with(file_scheme)) return name.substr(file_scheme.size());
  return begins_with_scheme(name) ? std::nullopt : std::optional<fs::path>(name);
}

std::unique_ptr<Source> open_source(const std::string& name, const CameraMode& mode) {
  if (name.empty()) return open_first_camera(mode);
  if (is_camera(name)) return open_camera(name, mode);
  const std::optional<fs::path> path = source_path(name);
  if (!path) return open_video(Source::Kind::stream, name, name);
  const fs::path file = made_absolute(*path);
  std::error_code ignored;
  if (fs::is_directory(file, ignored)) return open_folder(name, file);
  try {
    const InputFile readable(file);  // or else it throws
  } catch (const InputError& error) {
    throw InputError("read", fmt::format("{}: {}", name, error.what()));
  }
  if (is_picture(file)) return std::make_unique<PictureSource>(name, std::vector<fs::path>{file});
  return open_video(Source::Kind::video, name, file.string());
}

}  // namespace facesat
