// A picture, or a folder of pictures in the order of their names, as a source of frames.
#include <algorithm>
#include <exception>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "library/media/source_openers.hpp"
#include "library/support/errors.hpp"
#include "library/support/files.hpp"

namespace facesat {
namespace {

namespace fs = std::filesystem;

class PictureSource final : public FrameSource {
 public:
  PictureSource(std::string title, std::vector<fs::path> files)
      : title_(std::move(title)), files_(std::move(files)) {}

  Kind kind() const override { return Kind::pictures; }
  std::string title() const override { return title_; }
  double length() const override { return static_cast<double>(files_.size()); }

  std::optional<Frame> next() override {
    if (next_ >= files_.size()) return std::nullopt;
    const auto number = static_cast<double>(next_);
    const fs::path& file = files_[next_++];
    try {
      return Frame{read_picture(file), number, 0, file.filename().string(),
                   std::chrono::steady_clock::now()};
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

}  // namespace

std::unique_ptr<FrameSource> open_folder(const SourceRequest& request) {
  std::error_code failure;
  if (!request.path || !fs::is_directory(*request.path, failure)) return nullptr;
  std::vector<fs::path> files;
  for (fs::directory_iterator entry(*request.path, failure), end; !failure && entry != end;
       entry.increment(failure))
    if (is_picture(entry->path()) && entry->path().filename().string().front() != '.')
      files.push_back(entry->path());
  if (failure)
    throw InputError(
        "read", fmt::format("{}: this folder cannot be read: {}", request.name, failure.message()));
  if (files.empty())
    throw InputError("read", fmt::format("{}: there are no pictures in this folder", request.name));
  std::sort(files.begin(), files.end());
  return std::make_unique<PictureSource>(request.name, std::move(files));
}

std::unique_ptr<FrameSource> open_picture(const SourceRequest& request) {
  if (!request.path || !is_picture(*request.path)) return nullptr;
  return std::make_unique<PictureSource>(request.name, std::vector<fs::path>{*request.path});
}

}  // namespace facesat
