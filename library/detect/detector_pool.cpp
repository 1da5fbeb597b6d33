#include "library/detect/detector_pool.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <tbb/task_arena.h>

#include "core/memory.hpp"
#include "kernels/cuda_backend.hpp"
#include "library/detect/host_image.hpp"

namespace facesat {
namespace {

// Detectors on the CPU are not kept after an image that needs more than this: creating new ones
// costs little compared with such an image, and idle ones would hold memory that the gate does not
// count.
constexpr std::uint64_t kept_bytes = 64 << 20;

// A generous estimate of the memory for detection in an image, in bytes. Each pixel takes 4 for
// colour and grey. Each pixel of the pyramid's levels (`atlas`) takes 13: one for itself, and four
// for each of three integral images. The levels have about 6 times the image's pixels at scale
// factor 1.1. They are counted up to 16 Mi pixels, or the image's own number, because the CPU
// backend works on parts of them.
std::uint64_t estimated_bytes(Size image) {
  const std::uint64_t pixels = image.area();
  const std::uint64_t atlas =
      std::max<std::uint64_t>(pixels, std::min<std::uint64_t>(6 * pixels, 16 << 20));
  return 4 * pixels + 13 * atlas;
}

using Cascades = std::vector<std::shared_ptr<const Cascade>>;

DetectOptions checked(const DetectOptions& options) {
  check(options);
  return options;
}

Cascades usable(Cascades cascades) {
  if (cascades.empty()) throw ArgumentError("a detector needs at least one cascade");
  if (std::find(cascades.begin(), cascades.end(), nullptr) != cascades.end())
    throw ArgumentError("a cascade of a detector must not be null");
  return cascades;
}

void load(FrameDetector& detector, const HostImage& image) {
  if (image.is_gray())
    detector.load(image.gray());
  else
    detector.load(image.colour());
}

// Each cascade has its own backend, so that they can work concurrently. `image` is a HostImage, or
// the view of an image on a device.
template <class AnyImage>
Detection run(std::vector<FrameDetector>& detectors, const AnyImage& image,
              const ShouldStop& should_stop) {
  for (FrameDetector& detector : detectors) {
    detector.stop_when(should_stop);
    if constexpr (std::is_same_v<AnyImage, HostImage>)
      load(detector, image);
    else
      detector.load(image);
    detector.start();
  }
  Detection found;
  for (std::size_t i = 0; i < detectors.size(); ++i) {
    for (Face face : detectors[i].finish()) {
      face.cascade = i;
      found.faces.push_back(face);
    }
    found.windows += detectors[i].window_count();
    for (std::size_t step = 0; step < step_names.size(); ++step)
      found.times.ms[step] += detectors[i].times().ms[step];
  }
  sort_by_place(found.faces);
  return found;
}

}  // namespace

Detector::Pool::Pool(std::vector<std::shared_ptr<const Cascade>> cascades,
                     const DetectOptions& options, const BackendOptions& backend, Notify notify)
    : cascades_(usable(std::move(cascades))),
      options_(checked(options)),
      backends_(backend, cascades_),
      notify_(std::move(notify)),
      gate_(available_memory() / 2),
      gpu_usable_(backends_.on_gpu()) {}

Detector::Pool::~Pool() {
  if (idle_.empty()) return;
  const gpu::KeptDevice kept;
  idle_.clear();
}

Detection Detector::Pool::detect(const ImageView& image, const ShouldStop& should_stop) {
  return gpu_usable_ ? detect_on_gpu(image, should_stop) : detect_on_cpu(image, should_stop);
}

Detection Detector::Pool::detect_on_cpu(const ImageView& image, const ShouldStop& should_stop) {
  const std::uint64_t bytes = estimated_bytes(image.size);
  const MemoryGate::Pass pass(gate_, bytes);
  const HostImage host(image);
  std::unique_ptr<Detectors> detectors = borrow(idle_on_cpu_);
  if (!detectors) {
    detectors = std::make_unique<Detectors>();
    for (const auto& cascade : cascades_)
      detectors->emplace_back(cascade, options_, make_cpu_backend());
  }
  Detection found;
  // Isolated: a thread that waits for its part of this image must not start on another image, which
  // could wait for the memory that this one holds.
  tbb::this_task_arena::isolate([&] { found = run(*detectors, host, should_stop); });
  if (bytes <= kept_bytes) give_back(idle_on_cpu_, std::move(detectors));
  return found;
}

Detection Detector::Pool::detect_on_gpu(const ImageView& image, const ShouldStop& should_stop) {
  const gpu::KeptDevice kept;
  try {
    try {
      return try_on_gpu(image, should_stop);
    } catch (const MemoryError&) {  // idle detectors may hold too much memory
      drop(idle_);
      return try_on_gpu(image, should_stop);
    }
  } catch (const MemoryError& error) {
    if (!backends_.may_fall_back()) throw;
    warn_once(warned_of_memory_,
              fmt::format("{}; such pictures are detected on the CPU", error.what()));
  } catch (const DeviceError& error) {
    if (!backends_.may_fall_back()) throw;
    gpu_usable_ = false;
    warn_once(warned_of_failure_, fmt::format("{}; going on with the CPU", error.what()));
  }
  return detect_on_cpu(image, should_stop);
}

Detection Detector::Pool::try_on_gpu(const ImageView& image, const ShouldStop& should_stop) {
  std::unique_ptr<Detectors> detectors = borrow(idle_);
  if (!detectors) {
    const int place = next_place_++ % backends_.places();
    detectors = std::make_unique<Detectors>();
    for (const auto& cascade : cascades_)
      detectors->emplace_back(cascade, options_, backends_.make(place));
  }
  Detection found = image.on_device ? run(*detectors, image, should_stop)
                                    : run(*detectors, HostImage(image), should_stop);
  found.on_gpu = true;
  give_back(idle_, std::move(detectors));
  return found;
}

std::unique_ptr<Detector::Pool::Detectors> Detector::Pool::borrow(Idle& idle) {
  const std::scoped_lock lock(mutex_);
  if (idle.empty()) return nullptr;
  auto detectors = std::move(idle.back());
  idle.pop_back();
  return detectors;
}

void Detector::Pool::give_back(Idle& idle, std::unique_ptr<Detectors> detectors) {
  const std::scoped_lock lock(mutex_);
  idle.push_back(std::move(detectors));
}

void Detector::Pool::drop(Idle& idle) {
  const std::scoped_lock lock(mutex_);
  idle.clear();
}

void Detector::Pool::warn_once(std::atomic<bool>& warned, const std::string& sentence) {
  if (notify_ && !warned.exchange(true)) notify_(sentence);
}

}  // namespace facesat
