#include "app/live/recorder.hpp"

#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "app/io/annotate.hpp"
#include "app/opencv/opencv.hpp"

namespace facesat::app {

struct Recorder::Film {
  std::unique_ptr<FilmWriter> writer;
  Size size;
};

Recorder::Recorder() = default;
Recorder::~Recorder() = default;

void Recorder::set(const std::string& file, double frames_per_second) {
  const std::scoped_lock lock(mutex_);
  film_.reset();
  file_ = file;
  message_.clear();
  frames_per_second_ = frames_per_second;
}

void Recorder::add(View<const Bgr> frame, const std::vector<FoundFace>& faces) {
  const std::scoped_lock lock(mutex_);
  if (file_.empty()) return;
  if (!film_) {
    const bool is_mp4 = std::filesystem::path(file_).extension() == ".mp4";
    auto writer =
        opencv().write_film(file_, is_mp4 ? "mp4v" : "MJPG", frames_per_second_, frame.size);
    if (!writer) {
      message_ = fmt::format("{}: the film cannot be written", file_);
      file_.clear();
      return;
    }
    film_ = std::make_unique<Film>(std::move(writer), frame.size);
  }
  if (frame.size != film_->size) {
    message_ = fmt::format("{}: frames of another size are left out", file_);
    return;
  }
  film_->writer->add(with_boxes(frame, faces).view());
}

std::string Recorder::message() const {
  const std::scoped_lock lock(mutex_);
  return message_;
}

}  // namespace facesat::app
