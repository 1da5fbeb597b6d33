// A picture as a source of frames.
#include <exception>
#include <utility>

#include <fmt/format.h>

#include "media/source_openers.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"

namespace facesat {
namespace {

namespace fs = std::filesystem;

class PictureSource final : public FrameSource {
 public:
  PictureSource(std::string title, fs::path file)
      : title_(std::move(title)), file_(std::move(file)) {}

  Kind kind() const override { return Kind::picture; }
  std::string title() const override { return title_; }

  std::optional<Frame> next() override {
    if (std::exchange(is_read_, true)) return std::nullopt;
    const std::string name = file_.filename().string();
    try {
      return Frame{read_picture(file_), 0, 0, 0, name, std::chrono::steady_clock::now()};
    } catch (...) {
      const std::string reason = reason_of(std::current_exception());
      throw InputError("decode", fmt::format("{}: {}", name, reason));
    }
  }

  void seek(double) override { is_read_ = false; }

 private:
  std::string title_;
  fs::path file_;
  bool is_read_ = false;
};

}  // namespace

std::unique_ptr<FrameSource> open_picture(const SourceRequest& request) {
  if (!request.path || !has_extension(*request.path, picture_extensions())) return nullptr;
  return std::make_unique<PictureSource>(request.name, *request.path);
}

}  // namespace facesat
