#include "library/detect/memory_gate.hpp"

#include <algorithm>

namespace facesat {

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

}  // namespace facesat
