// The public Detector: checks what it is given, and lends it to the pool.
#include <utility>

#include <tbb/parallel_for.h>
#include <tbb/parallel_for_each.h>

#include "kernels/cuda_backend.hpp"
#include "library/detect/detector_pool.hpp"
#include "library/detect/host_image.hpp"

namespace facesat {
namespace {

// The first image of a device takes tenths of a second more than later ones, for the code.
void warm_up(const Backends& backends, const Cascades& cascades, const DetectOptions& options) {
  const gpu::KeptDevice kept;
  const Image<Bgr> blank({320, 240});  // undefined pixels are good enough
  tbb::parallel_for_each(backends.devices(), [&](const Backends::Device& device) {
    for (const auto& cascade : cascades)
      FrameDetector(cascade, options, device.make()).detect(blank.view());
  });
}

std::unique_ptr<Detector::Pool> make_pool(const Cascades& cascades, const DetectOptions& options,
                                          const BackendOptions& backend, Detector::Notify notify) {
  // Starting a device takes half a second of a processor's time, and more if the process then ends:
  // short runs do without.
  constexpr BackendStart::Delay delay{
      .least = std::chrono::milliseconds(300), .most = std::chrono::seconds(2), .images = 100};
  check(backend);  // in the background, it would be too late
  const bool in_background = backend.in_background && may_start_in_background(backend);
  const auto choose = [cascades, options, backend, in_background] {
    Backends chosen(backend, cascades);
    if (in_background) warm_up(chosen, cascades, options);
    return chosen;
  };
  return std::make_unique<Detector::Pool>(cascades, options, choose,
                                          in_background ? std::optional(delay) : std::nullopt,
                                          std::move(notify));
}

}  // namespace

Detector::Detector(const std::string& cascade, const DetectOptions& options,
                   const BackendOptions& backend, Notify notify)
    : Detector(std::vector{find_cascade(cascade)}, options, backend, std::move(notify)) {}

Detector::Detector(std::vector<std::shared_ptr<const Cascade>> cascades,
                   const DetectOptions& options, const BackendOptions& backend, Notify notify)
    : pool_(make_pool(cascades, options, backend, std::move(notify))) {}

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
bool Detector::is_starting() {
  return BackendStart::is_any_under_way();
}
void Detector::announce() const {
  pool_->announce();
}
std::vector<std::string> Detector::failures() const {
  return pool_->failures();
}

}  // namespace facesat
