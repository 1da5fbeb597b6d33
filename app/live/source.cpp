#include "app/live/source.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/errors.hpp"
#include "app/io/files.hpp"
#include "app/live/camera.hpp"
#include "app/live/video_source.hpp"

namespace facesat::app {
namespace {

namespace fs = std::filesystem;

using Clock = std::chrono::steady_clock;

bool is_number(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](unsigned char c) { return std::isdigit(c) != 0; });
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
    try {
      return LiveFrame{read_picture(files_[number]), static_cast<double>(number),
                       files_[number].filename().string(), Clock::now()};
    } catch (const InputError& error) {
      throw InputError("decode",
                       fmt::format("{}: {}", files_[number].filename().string(), error.what()));
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

std::unique_ptr<Source> open_folder(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code failure;
  for (fs::directory_iterator entry(folder, failure), end; !failure && entry != end;
       entry.increment(failure))
    if (is_picture(entry->path()) && entry->path().filename().string().front() != '.')
      files.push_back(entry->path());
  if (failure) throw InputError("read", fmt::format("{}: {}", folder.string(), failure.message()));
  if (files.empty())
    throw InputError("read", fmt::format("{}: there are no pictures in it", folder.string()));
  std::sort(files.begin(), files.end());
  return std::make_unique<PictureSource>(folder.string(), std::move(files));
}

}  // namespace

std::unique_ptr<Source> open_source(const std::string& name, const CameraMode& mode) {
  if (name.empty()) return open_first_camera(mode);
  if ((is_number(name) && name.size() < 5) || name.starts_with("/dev/video"))
    return open_camera(name, mode);
  const bool stream = name.find("://") != std::string::npos;
  if (!stream) {
    if (fs::is_directory(name)) return open_folder(name);
    try {
      require_readable(name);
    } catch (const InputError& error) {
      throw InputError("read", fmt::format("{}: {}", name, error.what()));
    }
    if (is_picture(name)) return std::make_unique<PictureSource>(name, std::vector<fs::path>{name});
  }
  std::unique_ptr<VideoInput> capture = opencv().open_video(name);
  if (!capture)
    throw InputError("decode", fmt::format("{}: this is neither a film nor a picture that can be "
                                           "decoded",
                                           name));
  // What has an end is a film, wherever it comes from, and keeps its pace.
  const bool is_live = stream && !(capture->get(VideoInput::frame_count) > 0);
  return std::make_unique<VideoSource>(is_live ? Source::Kind::stream : Source::Kind::film, name,
                                       std::move(capture));
}

}  // namespace facesat::app
