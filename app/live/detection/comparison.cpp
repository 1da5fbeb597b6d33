#include "app/live/detection/comparison.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <optional>
#include <utility>

#include "kernels/image/atlas.hpp"
#include "library/support/errors.hpp"

namespace facesat::app {
namespace {

using Clock = std::chrono::steady_clock;

// The middle value; of an even number, the upper one.
double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

bool same_boxes(const std::vector<Face>& a, const std::vector<Face>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Face& p, const Face& q) {
    return p.box == q.box && p.neighbors == q.neighbors && p.score == q.score;
  });
}

bool is_faster(const SatRank& a, const SatRank& b) {
  if (!a.failure.empty() || !b.failure.empty()) return a.failure.empty() && !b.failure.empty();
  return a.sat_ms < b.sat_ms;
}

}  // namespace

Comparison plan_comparison(const ComparedFrame& frame, bool on_device) {
  const Size image = frame.picture.pixels.size;
  const Pyramid pyramid = plan_pyramid(image, frame.cascade->window, frame.detect);
  Comparison comparison;
  comparison.on_device = on_device;
  comparison.image = image;
  comparison.levels = pyramid.levels.size();
  if (on_device) comparison.atlas = gpu::plan_atlas(pyramid).largest();
  // On the CPU, all algorithms are compared with both tables.
  const FeatureKind kind = on_device ? frame.cascade->kind : FeatureKind::haar;
  comparison.floor_ms = step_floors(least_bytes(pyramid, kind, on_device), frame.speed)[Step::sat];
  if (pyramid.levels.empty())
    comparison.message = "no face fits into this frame, so there is nothing to sum";
  return comparison;
}

ComparisonRun::ComparisonRun(Comparison begin, std::vector<std::string> ids, MeasureSat measure)
    : comparison_(std::move(begin)), ids_(std::move(ids)), measure_(std::move(measure)) {
  comparison_.count = ids_.size();
  if (!ids_.empty()) comparison_.running = ids_.front();
}

void ComparisonRun::measure_next() {
  if (is_over()) return;
  SatRank rank;
  try {
    rank = measure_(comparison_.running);
  } catch (...) {
    rank.failure = reason_of(std::current_exception());
  }
  rank.id = comparison_.running;
  std::vector<SatRank>& ranks = comparison_.ranks;
  ranks.insert(std::upper_bound(ranks.begin(), ranks.end(), rank, is_faster), rank);
  comparison_.running = ranks.size() < ids_.size() ? ids_[ranks.size()] : "";
}

void ComparisonRun::stop(const std::string& reason) {
  comparison_.running.clear();
  comparison_.message = reason;
}

MeasureSat measure_on_device(const BackendOptions& options, const ComparedFrame& frame) {
  return
      [options, frame, first = std::optional<std::vector<Face>>()](const std::string& id) mutable {
        BackendOptions with = options;
        with.sat = id;
        FrameDetector detector(frame.cascade, frame.detect, Backends(with, {frame.cascade}).make());
        detector.load(frame.picture.pixels);
        std::vector<Face> faces;
        const SatTimes times = median_of_runs([&] {
          const Clock::time_point begin = Clock::now();
          detector.start();
          faces = detector.finish();
          const std::chrono::duration<double, std::milli> taken = Clock::now() - begin;
          return SatTimes{detector.times()[Step::sat], taken.count()};
        });
        if (!first) first = faces;
        return SatRank{id, times.sat_ms, times.detect_ms, same_boxes(*first, faces), {}};
      };
}

SatTimes median_of_runs(const std::function<SatTimes()>& measure_once) {
  constexpr int warm_up = 3, most = 15, least = 3;
  constexpr std::chrono::milliseconds at_most(500);
  const Clock::time_point begin = Clock::now();
  const auto is_late = [&] { return Clock::now() - begin > at_most; };
  for (int run = 0; run < warm_up && !is_late(); ++run) measure_once();
  std::vector<double> sat_ms, detect_ms;
  for (int run = 0; run < most && (run < least || !is_late()); ++run) {
    const SatTimes times = measure_once();
    sat_ms.push_back(times.sat_ms);
    detect_ms.push_back(times.detect_ms);
  }
  return {median(std::move(sat_ms)), median(std::move(detect_ms))};
}

}  // namespace facesat::app
