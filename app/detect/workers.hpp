// Detectors for several pictures at once, within the memory limits of the machine.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "app/common/backends.hpp"
#include "core/detector.hpp"
#include "library/io/results.hpp"

namespace facesat::app {

// Lets work begin only when it fits into a budget of bytes together with all work under way. Work
// larger than the whole budget runs alone.
class MemoryGate {
 public:
  explicit MemoryGate(std::uint64_t budget) : budget_(budget) {}

  // Holds `bytes` of the budget for its lifetime; the constructor waits until they are free.
  class Pass {
   public:
    Pass(MemoryGate& gate, std::uint64_t bytes);
    ~Pass();
    Pass(const Pass&) = delete;
    Pass& operator=(const Pass&) = delete;

   private:
    MemoryGate& gate_;
    std::uint64_t bytes_;
  };

 private:
  std::uint64_t budget_, used_ = 0;
  std::mutex mutex_;
  std::condition_variable freed_;
};

// Any number of threads may call detect() at the same time; each borrows a set of detectors, one
// per cascade. Sets are distributed evenly over the devices.
class Workers {
 public:
  using Notify = std::function<void(const std::string& sentence)>;

  // `notify` is called with a message when a device fails or has too little memory.
  Workers(std::vector<std::shared_ptr<const Cascade>> cascades, const DetectOptions& options,
          const Backends& backends, Notify notify);

  // The faces found by all cascades, sorted by box and then by cascade. With --backend auto, the
  // CPU takes over pictures too large for the device, and all pictures once the device has failed.
  // Throws MemoryError, DeviceError, Stopped.
  std::vector<FoundFace> detect(View<const Bgr> picture, const ShouldStop& should_stop);

 private:
  // A set of detectors, one per cascade.
  using Detectors = std::vector<Detector>;
  using Idle = std::vector<std::unique_ptr<Detectors>>;

  std::vector<FoundFace> detect_on_cpu(View<const Bgr> picture, const ShouldStop& should_stop);
  std::vector<FoundFace> detect_on_gpu(View<const Bgr> picture, const ShouldStop& should_stop);
  // Without falling back to the CPU.
  std::vector<FoundFace> try_on_gpu(View<const Bgr> picture, const ShouldStop& should_stop);
  static std::vector<FoundFace> run(Detectors& detectors, View<const Bgr> picture,
                                    const ShouldStop& should_stop);
  std::unique_ptr<Detectors> borrow(Idle& idle);  // null: none is idle
  void give_back(Idle& idle, std::unique_ptr<Detectors> detectors);
  void drop(Idle& idle);
  void warn_once(std::atomic<bool>& warned, const std::string& sentence);

  std::vector<std::shared_ptr<const Cascade>> cascades_;
  DetectOptions options_;
  const Backends& backends_;
  Notify notify_;
  MemoryGate gate_;
  std::mutex mutex_;
  Idle idle_, idle_on_cpu_;  // idle_: on the GPU
  std::atomic<int> next_place_ = 0;
  std::atomic<bool> gpu_usable_, warned_of_memory_ = false, warned_of_failure_ = false;
};

}  // namespace facesat::app
