#include "core/frame_detector.hpp"

#include <utility>

#include "core/backend.hpp"
#include "core/rules.hpp"

namespace facesat {

void trim(std::vector<Face>& faces, Size image, const DetectOptions& options) {
  if (options.clip)
    for (Face& face : faces) face.box = rules::clipped(face.box, image);
  std::erase_if(faces, [&](const Face& face) {
    return face.box.width <= 0 || face.box.height <= 0 || face.score < options.min_score;
  });
}

FrameDetector::FrameDetector(std::shared_ptr<const Cascade> cascade, const DetectOptions& options,
                             std::unique_ptr<Backend> backend)
    : cascade_(std::move(cascade)), options_(options), backend_(std::move(backend)) {
  check(options);
}

void FrameDetector::stop_when(ShouldStop should_stop) {
  should_stop_ = std::move(should_stop);
  backend_->stop_when(should_stop_);
}

// An image smaller than every window has no levels; the backend is then not called at all.
template <class AnyView>
void FrameDetector::load_any(const AnyView& frame) {
  if (frame.size != pyramid_->image) prepare(frame.size);
  if (!pyramid_->levels.empty()) backend_->load(frame);
}

void FrameDetector::start() {
  if (!pyramid_->levels.empty()) backend_->run();
}

std::vector<Face> FrameDetector::finish() {
  window_count_ = 0;
  times_ = {};
  if (pyramid_->levels.empty()) return {};
  window_count_ = backend_->collect();
  times_ = backend_->times();

  const Stopwatch watch(times_[Step::group]);
  std::vector<Face> faces = backend_->group();
  trim(faces, pyramid_->image, options_);
  return faces;
}

void FrameDetector::prepare(Size image) {
  check_stop(should_stop_);
  *pyramid_ = plan_pyramid(image, cascade_->window, options_);
  if (pyramid_->levels.empty()) return;
  try {
    backend_->prepare(cascade_, *pyramid_, options_);
  } catch (...) {
    *pyramid_ = {};  // the next frame prepares anew
    throw;
  }
}

void FrameDetector::load(View<const Bgr> frame) {
  load_any(frame);
}
void FrameDetector::load(View<const Rgb> frame) {
  load_any(frame);
}
void FrameDetector::load(View<const std::uint8_t> gray) {
  load_any(gray);
}
void FrameDetector::load(const ImageView& on_device) {
  load_any(on_device);
}

std::vector<Face> FrameDetector::detect(View<const Bgr> frame) {
  load(frame);
  start();
  return finish();
}
std::vector<Face> FrameDetector::detect(View<const std::uint8_t> gray) {
  load(gray);
  start();
  return finish();
}

}  // namespace facesat
