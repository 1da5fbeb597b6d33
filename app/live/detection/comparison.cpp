#include "app/live/detection/comparison.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <string_view>
#include <utility>

#include "app/live/detection/face_search.hpp"
#include "cascades/cascade_store.hpp"
#include "core/cpu/integral.hpp"
#include "core/stopwatch.hpp"
#include "core/table.hpp"
#include "kernels/image/atlas.hpp"
#include "kernels/sat/algorithm.hpp"
#include "lab/problems/on_cpu.hpp"
#include "support/errors.hpp"

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

// Both integral images of a level. The memory is reused by the next level.
struct Tables {
  Table sum, squares;

  // Makes room for a level. All elements are overwritten, so that no result of an earlier run can
  // be mistaken for a new one; the borders are zero.
  void prepare(Size size) {
    for (Table* table : {&sum, &squares}) {
      table->resize(size);
      const View<std::uint32_t> view = table->view();
      std::fill_n(view.row(-1) - 1, size.width + 1, 0u);
      for (int y = 0; y < size.height; ++y) {
        view.row(y)[-1] = 0;
        std::fill_n(view.row(y), size.width, 0xEEEEEEEEu);
      }
    }
  }
  bool operator==(const Tables& other) const {
    return is_same(sum.view(), other.sum.view()) && is_same(squares.view(), other.squares.view());
  }

 private:
  static bool is_same(View<const std::uint32_t> a, View<const std::uint32_t> b) {
    for (int y = 0; y < a.size.height; ++y)
      if (!std::equal(a.row(y), a.row(y) + a.size.width, b.row(y))) return false;
    return true;
  }
};

void integrate(std::string_view id, View<const std::uint8_t> level, Tables& tables) {
  const View<std::uint32_t> sum = tables.sum.view(), squares = tables.squares.view();
  if (id == lab::id_2r2w) {
    lab::cpu_2r2w<lab::Summed::values>(level, sum);
    lab::cpu_2r2w<lab::Summed::squares>(level, squares);
  } else if (id == lab::id_4r1w) {
    lab::cpu_4r1w<lab::Summed::values>(level, sum);
    lab::cpu_4r1w<lab::Summed::squares>(level, squares);
  } else {
    cpu::integral(level, sum, squares);
  }
}

class CpuSats {
 public:
  explicit CpuSats(const ComparedFrame& frame) {
    FrameDetector detector(frame.cascade, frame.detect, make_cpu_backend());
    detector.detect(frame.picture.pixels);
    for (int i = 0; i < std::ssize(detector.pyramid().levels); ++i) {
      const Image<std::uint32_t> wide = detector.backend().snapshot(Snapshot::level, i);
      Image<std::uint8_t>& level = levels_.emplace_back(wide.size());
      for (int y = 0; y < wide.size().height; ++y)
        std::transform(wide.row(y), wide.row(y) + wide.size().width, level.row(y),
                       [](std::uint32_t pixel) { return static_cast<std::uint8_t>(pixel); });
    }
  }

  SatRank measure(const std::string& id) {
    const SatTimes times = median_of_runs([&] {
      SatTimes run;
      for (const Image<std::uint8_t>& level : levels_) {
        tables_.prepare(level.size());
        const Stopwatch watch(run.sat_ms);
        integrate(id, level.view(), tables_);
      }
      return run;
    });
    return {id, times.sat_ms, 0, is_correct(id), {}};
  }

 private:
  // Computes all tables once more, next to those of cpu_2r2w.
  bool is_correct(const std::string& id) {
    Tables expected;
    return std::all_of(levels_.begin(), levels_.end(), [&](const Image<std::uint8_t>& level) {
      for (Tables* tables : {&tables_, &expected}) tables->prepare(level.size());
      integrate(id, level.view(), tables_);
      integrate(lab::id_2r2w, level.view(), expected);
      return tables_ == expected;
    });
  }

  std::vector<Image<std::uint8_t>> levels_;
  Tables tables_;
};

std::vector<std::string> device_sats() {
  std::vector<std::string> ids;
  for (const gpu::SatAlgorithm* const sat : gpu::sat_algorithms()) ids.emplace_back(sat->id);
  return ids;
}

std::vector<std::string> cpu_sats() {
  return {lab::id_2r2w, lab::id_4r1w, lab::id_backend};
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

// The pyramid is computed with the first algorithm, and shared by the others.
MeasureSat measure_on_cpu(const ComparedFrame& frame) {
  return [frame, sats = std::shared_ptr<CpuSats>()](const std::string& id) mutable {
    if (!sats) sats = std::make_shared<CpuSats>(frame);
    return sats->measure(id);
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

LiveComparison::Subject LiveComparison::subject_of(const CapturedFrame& frame,
                                                   const FaceSearch& search) {
  return {frame.source, without_sat(search.machine())};
}

void LiveComparison::begin(const CapturedFrame& frame, const FaceSearch& search) {
  const bool on_device = search.device().has_value();
  run_.reset();
  subject_ = subject_of(frame, search);
  now_ = {};
  now_.on_device = on_device;
  try {
    if (!search.has_detectors())
      throw UsageError(search.failure().empty() ? "no cascade is chosen" : search.failure());
    const LiveSettings& settings = search.settings();
    const ComparedFrame compared{find_cascade(settings.cascades.front()), settings.detect,
                                 frame.picture, search.speed()};
    now_ = plan_comparison(compared, on_device);
    now_.frame = frame.name;
    now_.source = frame.source;
    if (now_.levels == 0) return;
    run_ = on_device
               ? ComparisonRun(now_, device_sats(), measure_on_device(search.machine(), compared))
               : ComparisonRun(now_, cpu_sats(), measure_on_cpu(compared));
    now_ = run_->comparison();
  } catch (...) {  // the cascade's file may be gone by now
    now_.message = reason_of(std::current_exception());
  }
}

void LiveComparison::go_on(const CapturedFrame& newest, const FaceSearch& search) {
  if (subject_of(newest, search) == subject_)
    run_->measure_next();
  else
    run_->stop("the comparison ended early: the source, or where faces are detected, changed");
  now_ = run_->comparison();
  if (run_->is_over()) run_.reset();
}

}  // namespace facesat::app
