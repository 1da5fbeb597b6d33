// Detectors for several images at once, within the memory limits of the machine.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "core/frame_detector.hpp"
#include "library/detect/backends.hpp"
#include "library/detect/memory_gate.hpp"
#include "library/facesat.hpp"

namespace facesat {

// Any number of threads may call detect() at the same time; each borrows a set of detectors, one
// per cascade. Sets are distributed evenly over the devices.
class __attribute__((visibility("hidden"))) Detector::Pool {
 public:
  Pool(std::vector<std::shared_ptr<const Cascade>> cascades, const DetectOptions& options,
       const BackendOptions& backend, Notify notify);
  ~Pool();

  // As Detector::detect, which has checked the image.
  Detection detect(const ImageView& image, const ShouldStop& should_stop);

  const Backends& backends() const { return backends_; }

 private:
  // A set of detectors, one per cascade.
  using Detectors = std::vector<FrameDetector>;
  using Idle = std::vector<std::unique_ptr<Detectors>>;

  Detection detect_on_cpu(const ImageView& image, const ShouldStop& should_stop);
  Detection detect_on_gpu(const ImageView& image, const ShouldStop& should_stop);
  // Without falling back to the CPU.
  Detection try_on_gpu(const ImageView& image, const ShouldStop& should_stop);
  std::unique_ptr<Detectors> borrow(Idle& idle);  // null: none is idle
  void give_back(Idle& idle, std::unique_ptr<Detectors> detectors);
  void drop(Idle& idle);
  void warn_once(std::atomic<bool>& warned, const std::string& sentence);

  std::vector<std::shared_ptr<const Cascade>> cascades_;
  DetectOptions options_;
  Backends backends_;
  Notify notify_;
  MemoryGate gate_;
  std::mutex mutex_;
  Idle idle_, idle_on_cpu_;  // idle_: on the GPU
  std::atomic<int> next_place_ = 0;
  std::atomic<bool> gpu_usable_, warned_of_memory_ = false, warned_of_failure_ = false;
};

}  // namespace facesat
