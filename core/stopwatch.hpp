// Measures the time that a step of detection takes.
#pragma once

#include <chrono>

namespace facesat {

// Adds its own lifetime to `milliseconds`, the time of a step.
class Stopwatch {
 public:
  explicit Stopwatch(double& milliseconds) : milliseconds_(milliseconds) {}
  ~Stopwatch() {
    milliseconds_ += std::chrono::duration<double, std::milli>(Clock::now() - start_).count();
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  double& milliseconds_;
  Clock::time_point start_ = Clock::now();
};

}  // namespace facesat
