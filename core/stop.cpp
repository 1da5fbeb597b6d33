#include "core/stop.hpp"

namespace facesat {
namespace {

constexpr std::int64_t work_between_polls = 1 << 16;  // units of StopMeter::spend(): under 1 ms

}  // namespace

void check_stop(const ShouldStop& should_stop) {
  if (should_stop && should_stop()) throw Stopped();
}

StopMeter::StopMeter(const ShouldStop& should_stop) {
  if (!should_stop) return;
  should_stop_ = &should_stop;
  left_ = work_between_polls;
}

void StopMeter::poll() {
  if (should_stop_) check_stop(*should_stop_);
  left_ = should_stop_ ? work_between_polls : for_centuries;
}

}  // namespace facesat
