// Detectors for several pictures at once, within the memory of the machine.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "app/io/results.hpp"
#include "core/detector.hpp"

namespace facesat::app {

// Lets work begin only while all work under way fits into a budget of bytes. What is larger than
// the whole budget runs alone.
class MemoryGate {
 public:
  explicit MemoryGate(std::uint64_t budget) : budget_(budget) {}

  // Holds `bytes` of the budget for its life; waits until they are free.
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

// Any number of threads may ask for faces at the same time; each borrows a set of detectors, one
// for each cascade.
class Workers {
 public:
  Workers(std::vector<std::shared_ptr<const Cascade>> cascades, const DetectOptions& options);

  // The faces of all cascades, sorted by box and then by cascade. Throws MemoryError.
  std::vector<FoundFace> detect(View<const Bgr> picture);

 private:
  using Detectors = std::vector<Detector>;
  std::unique_ptr<Detectors> borrow();
  void give_back(std::unique_ptr<Detectors> detectors);

  std::vector<std::shared_ptr<const Cascade>> cascades_;
  DetectOptions options_;
  MemoryGate gate_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Detectors>> idle_;
};

}  // namespace facesat::app
