// How a caller ends running work.
#pragma once

#include <cstdint>
#include <limits>

#include "facesat/types.hpp"

namespace facesat {

// Throws Stopped if the work shall end.
void check_stop(const ShouldStop& should_stop);

// For loops whose iterations are too short to poll in each of them: counts work and polls now and
// then. One per thread.
class StopMeter {
 public:
  StopMeter() = default;  // never stops
  // `should_stop` must outlive the meter.
  explicit StopMeter(const ShouldStop& should_stop);
  explicit StopMeter(ShouldStop&&) = delete;

  // To be called before `work` more units are done, of about 1 to 10 ns each. Throws Stopped.
  void spend(std::int64_t work) {
    left_ -= work;
    if (left_ < 0) poll();
  }

 private:
  void poll();

  static constexpr std::int64_t for_centuries = std::numeric_limits<std::int64_t>::max();

  const ShouldStop* should_stop_ = nullptr;
  std::int64_t left_ = for_centuries;
};

}  // namespace facesat
