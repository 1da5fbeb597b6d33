#include "app/live/detection/comparison.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include <fmt/format.h>
#include <tbb/task_arena.h>

#include "app/live/detection/face_search.hpp"
#include "cascades/cascade_store.hpp"
#include "kernels/image/atlas.hpp"
#include "kernels/sat/algorithm.hpp"
#include "lab/problems/on_cpu.hpp"
#include "lab/problems/sat.hpp"
#include "media/frame_source.hpp"
#include "support/errors.hpp"

namespace facesat::app {
namespace {

constexpr int timed_runs = 15;

bool same_faces(const std::vector<Face>& a, const std::vector<Face>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Face& p, const Face& q) {
    return p.box == q.box && p.neighbors == q.neighbors && p.score == q.score;
  });
}

bool ranks_before(const SatRank& a, const SatRank& b) {
  if (!a.failure.empty() || !b.failure.empty()) return a.failure.empty() && !b.failure.empty();
  return a.sat_ms < b.sat_ms;
}

// The levels of the frame's pyramid.
std::vector<Image<std::uint8_t>> levels_of(const ComparedFrame& frame) {
  FrameDetector detector(frame.cascade, frame.detect, make_cpu_backend());
  detector.detect(frame.picture.pixels);
  std::vector<Image<std::uint8_t>> levels;
  for (int i = 0; i < std::ssize(detector.pyramid().levels); ++i) {
    const Image<std::uint32_t> wide = detector.backend().snapshot(Snapshot::level, i);
    Image<std::uint8_t>& level = levels.emplace_back(wide.size());
    for (int y = 0; y < wide.size().height; ++y)
      std::transform(wide.row(y), wide.row(y) + wide.size().width, level.row(y),
                     [](std::uint32_t pixel) { return static_cast<std::uint8_t>(pixel); });
  }
  return levels;
}

std::vector<std::string> device_sats() {
  std::vector<std::string> ids;
  for (const gpu::SatAlgorithm* const sat : gpu::sat_algorithms()) ids.emplace_back(sat->id);
  return ids;
}

// For room of 0 bytes, which not even one workspace fits into: each subject is a group of its own,
// so that the detector of each algorithm is gone before the next one is made.
std::vector<lab::Subject> groups_of_one(const std::vector<ComparedSat>& sats) {
  std::vector<lab::Subject> subjects;
  for (const ComparedSat& sat : sats) {
    subjects.push_back(sat.subject);
    subjects.back().workspace_bytes = 1;
  }
  return subjects;
}

// The median time; 0: none.
double median_ms(std::vector<double> us) {
  std::sort(us.begin(), us.end());
  return us.empty() ? 0 : lab::quantile(us, 0.5) / 1000;
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
  // On the CPU, each algorithm makes both tables, whatever the cascade needs.
  const FeatureKind kind = on_device ? frame.cascade->kind : FeatureKind::haar;
  comparison.floor_ms = step_floors(least_bytes(pyramid, kind, on_device), frame.speed)[Step::sat];
  if (pyramid.levels.empty())
    comparison.message = "no face fits into this frame, so there is nothing to sum";
  return comparison;
}

std::vector<ComparedSat> sats_on_device(const BackendOptions& options, const ComparedFrame& frame,
                                        const std::vector<std::string>& ids) {
  struct Ready {
    FrameDetector detector;
    std::vector<Face> faces{};
    double detect_us = 0;  // of the last run
  };
  const auto expected = std::make_shared<std::optional<std::vector<Face>>>();
  std::vector<ComparedSat> sats;
  for (const std::string& id : ids) {
    const auto detect_us = std::make_shared<std::vector<double>>();
    const auto open = [=] {
      BackendOptions with = options;
      with.sat = id;
      const auto ready = std::make_shared<Ready>(
          FrameDetector(frame.cascade, frame.detect, Backends(with, {frame.cascade}).make()));
      ready->detector.load(frame.picture.pixels);
      const lab::Runner whole = lab::on_host(
          [=] {
            ready->detector.start();
            ready->faces = ready->detector.finish();
          },
          nullptr);
      return lab::Runner{.run =
                             [=] {
                               ready->detect_us = whole.run();
                               return 1000 * ready->detector.times()[Step::sat];
                             },
                         .is_right =
                             [=] {
                               if (!*expected) *expected = ready->faces;
                               return same_faces(**expected, ready->faces);
                             },
                         .note_timed = [=] { detect_us->push_back(ready->detect_us); }};
    };
    sats.push_back({{.id = id, .open = open}, detect_us});
  }
  return sats;
}

std::vector<ComparedSat> sats_on_cpu(const ComparedFrame& frame) {
  const std::vector<std::string> ids{lab::id_2r2w, lab::id_4r1w, lab::id_backend};
  std::vector<std::vector<lab::Subject>> parts(ids.size());  // of each algorithm: a level each
  for (const Image<std::uint8_t>& level : levels_of(frame)) {
    const gpu::SatCase both_tables{.size = level.size(), .squares = true};
    const std::vector<lab::Subject> of_level = lab::sat_on_cpu(both_tables, ids, level.view());
    for (std::size_t i = 0; i < ids.size(); ++i) parts[i].push_back(of_level[i]);
  }
  std::vector<ComparedSat> sats;
  for (std::size_t i = 0; i < ids.size(); ++i) sats.push_back({lab::joined(ids[i], parts[i])});
  return sats;
}

ComparisonRun::ComparisonRun(Comparison begin, const std::vector<ComparedSat>& sats)
    : comparison_(std::move(begin)), sats_(sats), measuring_(groups_of_one(sats), timed_runs, 0) {
  comparison_.count = sats.size();
  if (!sats.empty()) comparison_.running = sats.front().subject.id;
}

bool ComparisonRun::go_on() {
  if (is_over()) return false;
  const std::size_t running = measuring_.done_count();
  measuring_.go_on();
  if (measuring_.done_count() == running) return false;
  const lab::Measurement& measured = measuring_.measurements()[running];
  const ComparedSat& sat = sats_[running];
  const SatRank rank{.id = sat.subject.id,
                     .sat_ms = median_ms(measured.us),
                     .detect_ms = sat.detect_us ? median_ms(*sat.detect_us) : 0,
                     .identical = measured.all_right.value_or(true),
                     .failure = measured.failure};
  std::vector<SatRank>& ranks = comparison_.ranks;
  ranks.insert(std::upper_bound(ranks.begin(), ranks.end(), rank, ranks_before), rank);
  comparison_.running = measuring_.is_over() ? "" : sats_[measuring_.done_count()].subject.id;
  return true;
}

void ComparisonRun::stop(const std::string& reason) {
  is_stopped_ = true;
  comparison_.running.clear();
  comparison_.message = reason;
}

void add_picture(Comparison& sum, const Comparison& picture) {
  if (sum.pictures == 0) {
    sum.ranks = picture.ranks;
  } else {
    for (SatRank& rank : sum.ranks) {
      const auto other = std::ranges::find(picture.ranks, rank.id, &SatRank::id);
      if (other == picture.ranks.end()) continue;
      rank.sat_ms += other->sat_ms;
      rank.detect_ms += other->detect_ms;
      rank.identical &= other->identical;
      if (rank.failure.empty()) rank.failure = other->failure;
    }
  }
  for (SatRank& rank : sum.ranks)
    if (!rank.failure.empty()) rank.sat_ms = rank.detect_ms = 0;
  std::ranges::stable_sort(sum.ranks, ranks_before);
  ++sum.pictures;
  sum.levels += picture.levels;
  sum.floor_ms += picture.floor_ms;
}

// A comparison of a list goes on when another of its pictures is shown.
LiveComparison::Basis LiveComparison::basis_of(const CapturedFrame& frame,
                                               const FaceSearch& search) const {
  return {frame.list, is_list_ ? 0 : frame.source, without_sat(search.machine())};
}

// As the CPU's algorithms are measured.
static CopySpeed copy_speed_of_one_thread() {
  CopySpeed speed;
  tbb::task_arena(1).execute([&] { speed = host_copy_speed(); });
  return speed;
}

void LiveComparison::begin(const CapturedFrame& frame, const FaceSearch& search,
                           const SourceNames& pictures) {
  run_.reset();
  pictures_.clear();
  is_list_ = !pictures.empty();
  basis_ = basis_of(frame, search);
  current_ = {};
  current_.on_device = search.device().has_value();
  current_.source_name = frame.name;
  current_.source = frame.source;
  current_.pictures = 0;
  if (!is_list_) return begin_frame(frame.picture, frame.name, search);
  chosen_ = std::min(pictures.size(), most_pictures);
  for (std::size_t i = chosen_; i-- > 0;)
    pictures_.push_back(pictures[i * pictures.size() / chosen_]);
  listed_ = pictures.size();
  current_.running = fmt::format("picture 1 of {}", chosen_);
}

void LiveComparison::begin_frame(const Picture& picture, const std::string& name,
                                 const FaceSearch& search) {
  const bool on_device = search.device().has_value();
  try {
    if (!search.has_detectors())
      throw UsageError(search.failure().empty() ? "no cascade is chosen" : search.failure());
    const LiveSettings& settings = search.settings();
    const ComparedFrame compared{find_cascade(settings.cascades.front()), settings.detect, picture,
                                 on_device ? search.speed() : copy_speed_of_one_thread()};
    Comparison plan = plan_comparison(compared, on_device);
    plan.source_name = name;
    plan.source = basis_.source;
    if (plan.levels > 0)
      run_.emplace(plan, on_device ? sats_on_device(search.machine(), compared, device_sats())
                                   : sats_on_cpu(compared));
    if (!is_list_) current_ = run_ ? run_->comparison() : plan;
  } catch (...) {  // the cascade's file may be gone by now
    end_early(reason_of(std::current_exception()));
  }
}

// Leaves out a picture that cannot be read, or is too small for a face.
void LiveComparison::begin_next_picture(const FaceSearch& search) {
  const std::string name = std::move(pictures_.back());
  pictures_.pop_back();
  try {
    if (const std::optional<Frame> frame = open_source(name)->next())
      begin_frame(frame->picture, name, search);
  } catch (const Error&) {
  }
}

void LiveComparison::finish_run() {
  if (is_list_ && run_) add_picture(current_, run_->comparison());
  run_.reset();
  if (!is_list_) return;
  current_.source_name = current_.pictures == listed_
                             ? fmt::format("all {} pictures", listed_)
                             : fmt::format("{} of {} pictures", current_.pictures, listed_);
  current_.running = pictures_.empty()
                         ? ""
                         : fmt::format("picture {} of {}", chosen_ - pictures_.size() + 1, chosen_);
  if (pictures_.empty() && current_.pictures == 0)
    current_.message = "none of the pictures could be measured";
}

void LiveComparison::end_early(const std::string& reason) {
  run_.reset();
  pictures_.clear();
  current_.running.clear();
  current_.message = reason;
}

bool LiveComparison::go_on(const CapturedFrame& newest, const FaceSearch& search) {
  if (basis_of(newest, search) != basis_) {
    end_early("the comparison ended early: the source, or where faces are detected, changed");
    return true;
  }
  if (!run_) {
    begin_next_picture(search);
    if (!run_) finish_run();
    return !run_;
  }
  bool has_changed = true;
  try {
    has_changed = run_->go_on();
    if (!is_list_) current_ = run_->comparison();
  } catch (...) {
    end_early(reason_of(std::current_exception()));
    return true;
  }
  if (run_->is_over()) finish_run();
  return has_changed;
}

}  // namespace facesat::app
