// Keeps work that happens at the same time within a budget of memory.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace facesat {

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

}  // namespace facesat
