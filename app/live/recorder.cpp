#include "app/live/recorder.hpp"

#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <opencv2/videoio.hpp>

#include "app/io/annotate.hpp"

namespace facesat::app {

struct Recorder::Film {
  cv::VideoWriter writer;
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
    film_ = std::make_unique<Film>();
    film_->size = frame.size;
    const bool is_mp4 = std::filesystem::path(file_).extension() == ".mp4";
    const int codec = is_mp4 ? cv::VideoWriter::fourcc('m', 'p', '4', 'v')
                             : cv::VideoWriter::fourcc('M', 'J', 'P', 'G');
    if (!film_->writer.open(file_, codec, frames_per_second_,
                            {frame.size.width, frame.size.height})) {
      message_ = fmt::format("{}: the film cannot be written", file_);
      file_.clear();
      film_.reset();
      return;
    }
  }
  if (frame.size != film_->size) {
    message_ = fmt::format("{}: frames of another size are left out", file_);
    return;
  }
  Image<Bgr> image = with_boxes(frame, faces);
  const View<Bgr> pixels = image.view();
  film_->writer.write(cv::Mat(pixels.size.height, pixels.size.width, CV_8UC3, pixels.data,
                              static_cast<std::size_t>(pixels.pitch) * sizeof(Bgr)));
}

std::string Recorder::message() const {
  const std::scoped_lock lock(mutex_);
  return message_;
}

}  // namespace facesat::app
