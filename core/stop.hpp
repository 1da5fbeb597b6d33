// How a caller ends work that is under way.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>

#include "core/error.hpp"

namespace facesat {

// Whether work shall end; an empty function never says so. It is called again and again, by every
// thread that takes part and by several at once, about once per millisecond each: so it must be
// safe to call from several threads, and quick (read a flag, compare the time with a deadline).
// Having returned true, it must go on doing so until the call that it ends has thrown.
using ShouldStop = std::function<bool()>;

// Throws Stopped if the work shall end.
void check_stop(const ShouldStop& should_stop);

// For loops whose turns are too short to ask at each of them: counts work and asks now and then.
// One for each thread.
class StopMeter {
 public:
  StopMeter() = default;  // never stops
  // The function must outlive it.
  explicit StopMeter(const ShouldStop& should_stop);
  explicit StopMeter(ShouldStop&&) = delete;

  // Before `work` more units are done, each of the order of a nanosecond to ten. Throws Stopped.
  void spend(std::int64_t work) {
    left_ -= work;
    if (left_ < 0) ask();
  }

 private:
  void ask();

  static constexpr std::int64_t for_centuries = std::numeric_limits<std::int64_t>::max();

  const ShouldStop* should_stop_ = nullptr;
  std::int64_t left_ = for_centuries;
};

}  // namespace facesat
