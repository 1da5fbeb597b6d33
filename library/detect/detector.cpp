// The public Detector: checks what it is given, and lends it to the pool.
#include <utility>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include "library/detect/detector_pool.hpp"
#include "library/detect/host_image.hpp"

namespace facesat {

Detector::Detector(const std::string& cascade, const DetectOptions& options,
                   const BackendOptions& backend, Notify notify)
    : Detector(std::vector{find_cascade(cascade)}, options, backend, std::move(notify)) {}

Detector::Detector(std::vector<std::shared_ptr<const Cascade>> cascades,
                   const DetectOptions& options, const BackendOptions& backend, Notify notify)
    : pool_(std::make_unique<Pool>(std::move(cascades), options, backend, std::move(notify))) {}

Detector::Detector(Detector&&) noexcept = default;
Detector& Detector::operator=(Detector&&) noexcept = default;
Detector::~Detector() = default;

Detection Detector::detect(const ImageView& image, const ShouldStop& should_stop) const {
  check(image);
  if (image.size.area() == 0) return {};
  return pool_->detect(image, should_stop);
}

std::vector<Detection> Detector::detect_all(std::span<const ImageView> images,
                                            const ShouldStop& should_stop) const {
  std::vector<Detection> all(images.size());
  const auto detect_one = [&](std::size_t i) {
    try {
      all[i] = detect(images[i], should_stop);
    } catch (...) {
      all[i].error = std::current_exception();
    }
  };
  tbb::parallel_for(std::size_t{0}, images.size(), detect_one, tbb::simple_partitioner());
  return all;
}

const std::string& Detector::device_name() const {
  return pool_->backends().device_name();
}
bool Detector::on_gpu() const {
  return pool_->backends().on_gpu();
}
const std::string& Detector::remark() const {
  return pool_->backends().remark();
}

}  // namespace facesat
