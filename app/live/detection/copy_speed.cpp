#include "app/live/detection/copy_speed.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <vector>

#include <tbb/parallel_for.h>

namespace facesat::app {

StepBytes least_bytes(const Pyramid& pyramid, FeatureKind kind, bool on_device) {
  const auto image = static_cast<double>(pyramid.image.area());
  double levels = 0;
  for (const Level& level : pyramid.levels) levels += static_cast<double>(level.size.area());
  constexpr double colour = 3, gray = 1;  // bytes per pixel
  const double tables = traits_of(kind).squares ? 8 : 4;
  const auto bytes_of = [&](Step step) {
    switch (step) {
      case Step::upload:
        return on_device ? colour * image : 0;
      case Step::gray:
        return (colour + gray) * image;
      case Step::resize:
        return gray * (image + levels);
      case Step::sat:
        return (gray + tables) * levels;
      case Step::evaluate:
        return tables * levels;
      default:
        return 0.0;
    }
  };
  StepBytes bytes{};
  for (std::size_t s = 0; s < bytes.size(); ++s) bytes[s] = bytes_of(static_cast<Step>(s));
  return bytes;
}

CopySpeed host_copy_speed() {
  using Clock = std::chrono::steady_clock;
  constexpr std::size_t part = 1 << 20, parts = 64;  // 64 MiB in all, more than most caches hold
  const std::vector<char> from(part * parts, 1);
  std::vector<char> to(part * parts);
  double best = 0;
  for (int run = 0; run < 4; ++run) {
    const Clock::time_point begin = Clock::now();
    tbb::parallel_for(std::size_t{0}, parts, [&](std::size_t i) {
      std::memcpy(to.data() + i * part, from.data() + i * part, part);
    });
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    // Each byte is read and written, hence 2.
    best = std::max(best, 2 * static_cast<double>(part * parts) / seconds);
  }
  return {best, 0};  // there is no upload
}

StepTimes step_floors(const StepBytes& bytes, const CopySpeed& speed) {
  StepTimes floors;
  for (std::size_t s = 0; s < bytes.size(); ++s) {
    const double fastest = static_cast<Step>(s) == Step::upload ? speed.upload : speed.memory;
    if (fastest > 0) floors.ms[s] = bytes[s] / fastest * 1000;
  }
  return floors;
}

}  // namespace facesat::app
