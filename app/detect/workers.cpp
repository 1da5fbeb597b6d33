#include "app/detect/workers.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <tbb/task_arena.h>

#include "core/memory.hpp"

namespace facesat::app {
namespace {

// Detectors on the CPU are not kept after a picture that needs more than this: creating new ones
// costs little compared with such a picture, and idle ones would hold memory that the gate does not
// count.
constexpr std::uint64_t kept_bytes = 64 << 20;

// A generous estimate of the memory for detection in a picture, in bytes. Each pixel takes 4 for
// colour and grey. Each pixel of the pyramid's levels (`atlas`) takes 13: one for itself, and four
// for each of three integral images. The levels have about 6 times the picture's pixels at scale
// factor 1.1. They are counted up to 16 Mi pixels, or the picture's own number, because the CPU
// backend works on parts of them.
std::uint64_t estimated_bytes(Size picture) {
  const std::uint64_t pixels = picture.area();
  const std::uint64_t atlas =
      std::max<std::uint64_t>(pixels, std::min<std::uint64_t>(6 * pixels, 16 << 20));
  return 4 * pixels + 13 * atlas;
}

}  // namespace

MemoryGate::Pass::Pass(MemoryGate& gate, std::uint64_t bytes)
    : gate_(gate), bytes_(std::min(bytes, gate.budget_)) {
  std::unique_lock lock(gate_.mutex_);
  gate_.freed_.wait(lock, [this] { return gate_.used_ + bytes_ <= gate_.budget_; });
  gate_.used_ += bytes_;
}

MemoryGate::Pass::~Pass() {
  {
    const std::scoped_lock lock(gate_.mutex_);
    gate_.used_ -= bytes_;
  }
  gate_.freed_.notify_all();
}

Workers::Workers(std::vector<std::shared_ptr<const Cascade>> cascades, const DetectOptions& options,
                 const Backends& backends, Notify notify)
    : cascades_(std::move(cascades)),
      options_(options),
      backends_(backends),
      notify_(std::move(notify)),
      gate_(available_memory() / 2),
      gpu_usable_(backends.on_gpu()) {}

std::vector<FoundFace> Workers::detect(View<const Bgr> picture, const ShouldStop& should_stop) {
  std::vector<FoundFace> found =
      gpu_usable_ ? detect_on_gpu(picture, should_stop) : detect_on_cpu(picture, should_stop);
  sort_by_place(found);
  return found;
}

std::vector<FoundFace> Workers::detect_on_cpu(View<const Bgr> picture,
                                              const ShouldStop& should_stop) {
  const std::uint64_t bytes = estimated_bytes(picture.size);
  const MemoryGate::Pass pass(gate_, bytes);
  std::unique_ptr<Detectors> detectors = borrow(idle_on_cpu_);
  if (!detectors) {
    detectors = std::make_unique<Detectors>();
    for (const auto& cascade : cascades_)
      detectors->emplace_back(cascade, options_, make_cpu_backend());
  }
  std::vector<FoundFace> found;
  // Isolated: a thread that waits for its part of this picture must not start on another picture,
  // which could wait for the memory that this one holds.
  tbb::this_task_arena::isolate([&] { found = run(*detectors, picture, should_stop); });
  if (bytes <= kept_bytes) give_back(idle_on_cpu_, std::move(detectors));
  return found;
}

std::vector<FoundFace> Workers::detect_on_gpu(View<const Bgr> picture,
                                              const ShouldStop& should_stop) {
  try {
    try {
      return try_on_gpu(picture, should_stop);
    } catch (const MemoryError&) {  // idle detectors may hold too much memory
      drop(idle_);
      return try_on_gpu(picture, should_stop);
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
  return detect_on_cpu(picture, should_stop);
}

std::vector<FoundFace> Workers::try_on_gpu(View<const Bgr> picture, const ShouldStop& should_stop) {
  std::unique_ptr<Detectors> detectors = borrow(idle_);
  if (!detectors) {
    const int place = next_place_++ % backends_.places();
    detectors = std::make_unique<Detectors>();
    for (const auto& cascade : cascades_)
      detectors->emplace_back(cascade, options_, backends_.make(place));
  }
  std::vector<FoundFace> found = run(*detectors, picture, should_stop);
  give_back(idle_, std::move(detectors));
  return found;
}

// Each cascade has its own backend, so that they can work concurrently.
std::vector<FoundFace> Workers::run(Detectors& detectors, View<const Bgr> picture,
                                    const ShouldStop& should_stop) {
  for (Detector& detector : detectors) {
    detector.stop_when(should_stop);
    detector.load(picture);
    detector.start();
  }
  std::vector<FoundFace> found;
  for (std::size_t i = 0; i < detectors.size(); ++i)
    for (const Face& face : detectors[i].finish()) found.push_back({face, i});
  return found;
}

std::unique_ptr<Workers::Detectors> Workers::borrow(Idle& idle) {
  const std::scoped_lock lock(mutex_);
  if (idle.empty()) return nullptr;
  auto detectors = std::move(idle.back());
  idle.pop_back();
  return detectors;
}

void Workers::give_back(Idle& idle, std::unique_ptr<Detectors> detectors) {
  const std::scoped_lock lock(mutex_);
  idle.push_back(std::move(detectors));
}

void Workers::drop(Idle& idle) {
  const std::scoped_lock lock(mutex_);
  idle.clear();
}

void Workers::warn_once(std::atomic<bool>& warned, const std::string& sentence) {
  if (!warned.exchange(true)) notify_(sentence);
}

}  // namespace facesat::app
