#include "app/live/comparison.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include <fmt/format.h>

#include "kernels/image/atlas.hpp"
#include "library/support/errors.hpp"

namespace facesat::app {
namespace {

// The middle value; of an even number, the upper one.
double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Measures a detector that has a frame loaded.
void measure(Detector& detector, SatRank& rank, std::vector<Face>& faces) {
  using Clock = std::chrono::steady_clock;
  constexpr int warm_up = 3, runs = 15;
  std::vector<double> sat_ms, detect_ms;
  for (int run = -warm_up; run < runs; ++run) {
    const Clock::time_point begin = Clock::now();
    detector.start();
    faces = detector.finish();
    if (run < 0) continue;
    detect_ms.push_back(std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
    sat_ms.push_back(detector.times()[Step::sat]);
  }
  rank.sat_ms = median(std::move(sat_ms));
  rank.detect_ms = median(std::move(detect_ms));
}

bool same_boxes(const std::vector<Face>& a, const std::vector<Face>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Face& p, const Face& q) {
    return p.box == q.box && p.neighbors == q.neighbors && p.score == q.score;
  });
}

}  // namespace

Comparison compare_sats(const std::vector<std::string>& ids, const BackendOptions& options,
                        const std::shared_ptr<const Cascade>& cascade, const DetectOptions& detect,
                        View<const Bgr> frame) {
  Comparison comparison;
  comparison.image = frame.size;
  std::vector<Face> first;
  for (const std::string& id : ids) try {
      BackendOptions with = options;
      with.sat = id;
      Detector detector(cascade, detect, Backends(with, {cascade}).make(0));
      detector.load(frame);
      SatRank rank{.id = id};
      std::vector<Face> faces;
      measure(detector, rank, faces);
      comparison.atlas = gpu::plan_atlas(detector.pyramid()).largest();
      if (comparison.ranks.empty()) first = faces;
      rank.identical = same_boxes(first, faces);
      comparison.ranks.push_back(rank);
    } catch (...) {
      comparison.message = fmt::format("{}: {}", id, reason_of(std::current_exception()));
    }
  std::sort(comparison.ranks.begin(), comparison.ranks.end(),
            [](const SatRank& a, const SatRank& b) { return a.sat_ms < b.sat_ms; });
  return comparison;
}

}  // namespace facesat::app
