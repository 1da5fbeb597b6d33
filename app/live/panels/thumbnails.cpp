#include "app/live/panels/thumbnails.hpp"

#include <filesystem>

#include "app/live/gui/screen.hpp"
#include "media/frame_source.hpp"
#include "media/source_name.hpp"
#include "results/inputs.hpp"

namespace facesat::app {

namespace fs = std::filesystem;

Thumbnails::Thumbnails()
    : thread_([this](const std::stop_token& stop) { run_once(stop); }, [](const std::string&) {}) {}

const Texture* Thumbnails::of(const std::string& source) {
  std::vector<Read> read;
  {
    const std::scoped_lock lock(mutex_);
    read.swap(read_);
    if (source_path(source) && asked_.insert(source).second) {
      wanted_.push_back(source);
      changed_.notify_all();
    }
  }
  for (const Read& one : read) textures_[one.source].set(one.picture.view());
  const auto found = textures_.find(source);
  return found == textures_.end() ? nullptr : &found->second;
}

void Thumbnails::forget() {
  const std::scoped_lock lock(mutex_);
  asked_.clear();
}

void Thumbnails::run_once(const std::stop_token& stop) {
  constexpr int longest_side = 320;  // pixels
  std::string source;
  {
    std::unique_lock lock(mutex_);
    if (!changed_.wait(lock, stop, [this] { return !wanted_.empty(); })) return;
    source = wanted_.front();
    wanted_.erase(wanted_.begin());
  }
  std::error_code ignored;  // reading a pipe could wait for ever
  if (!fs::is_regular_file(source, ignored) && !fs::is_directory(source, ignored)) return;
  Inputs inputs({.inputs = {source}, .excluded = {}});
  const std::optional<Input> first = inputs.next();
  if (!first || first->kind == Input::Kind::failure) return;
  const std::optional<Frame> frame = open_source(first->path.string())->next();
  if (!frame) return;
  const View<const Bgr> pixels = frame->picture.pixels;
  Image<Bgr> picture = shrink(pixels, shrink_factor(pixels.size, longest_side));
  {
    const std::scoped_lock lock(mutex_);
    read_.push_back({source, std::move(picture)});
  }
  Screen::wake();
}

}  // namespace facesat::app
