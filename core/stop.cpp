#include "core/stop.hpp"

namespace facesat {
namespace {

constexpr std::int64_t between_questions = 1 << 16;

}  // namespace

void check_stop(const ShouldStop& should_stop) {
  if (should_stop && should_stop()) throw Stopped();
}

StopMeter::StopMeter(const ShouldStop& should_stop) {
  if (!should_stop) return;
  should_stop_ = &should_stop;
  left_ = between_questions;
}

void StopMeter::ask() {
  if (should_stop_) check_stop(*should_stop_);
  left_ = should_stop_ ? between_questions : for_centuries;
}

}  // namespace facesat
