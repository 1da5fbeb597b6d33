#include "training/cross_validation.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>
#include <utility>

#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_pipeline.h>
#include <tbb/task_arena.h>

#include "training/judge.hpp"
#include "training/shuffle.hpp"

namespace facesat::training {
namespace {

// Of each of `count` numbers: does it belong to the fold?
std::vector<bool> members(std::size_t count, const Fold& fold) {
  std::vector<bool> is_member(count);
  if (count == 0) return is_member;
  const Shuffle order(count, fold.seed);
  for (std::size_t rank = static_cast<std::size_t>(fold.number); rank < count;
       rank += static_cast<std::size_t>(fold.count))
    is_member[order.at(rank)] = true;
  return is_member;
}

// Some of the pictures.
class PartOfPictures final : public NegativePictures {
 public:
  PartOfPictures(std::shared_ptr<NegativePictures> all, std::vector<std::size_t> numbers)
      : all_(std::move(all)), numbers_(std::move(numbers)) {}

  std::size_t count() const override { return numbers_.size(); }
  std::string name(std::size_t picture) const override { return all_->name(numbers_[picture]); }
  std::vector<Box> objects(std::size_t picture) const override {
    return all_->objects(numbers_[picture]);
  }
  bool is_frame(std::size_t picture) const override { return all_->is_frame(numbers_[picture]); }
  std::uint64_t checksum() const override {
    return std::accumulate(
        numbers_.begin(), numbers_.end(), all_->checksum(),
        [](std::uint64_t sum, std::size_t number) { return mixed(sum + number); });
  }
  std::vector<std::string> warnings() const override { return all_->warnings(); }
  std::optional<Gray> read(std::size_t picture, const ShouldStop& should_stop) override {
    return all_->read(numbers_[picture], should_stop);
  }

 private:
  std::shared_ptr<NegativePictures> all_;
  std::vector<std::size_t> numbers_;
};

// ---- curves

// What was counted in a picture.
struct Counts {
  std::uint64_t pixels = 0, windows = 0;
  std::vector<std::uint64_t> accepted{};  // [k]: by the first k stages, of those that are counted

  void add(const Counts& other) {
    pixels += other.pixels;
    windows += other.windows;
    accepted.resize(std::max(accepted.size(), other.accepted.size()));
    for (std::size_t k = 0; k < other.accepted.size(); ++k) accepted[k] += other.accepted[k];
  }
};

Counts counts_in(const NegativePictures::Gray& gray, const std::vector<Box>& objects,
                 PictureSearch& search, const Judge& whole, Size window,
                 const ShouldStop& should_stop) {
  if (!gray.picture) return {};
  constexpr SearchLimit at_most{.windows = 20'000, .one_per_cell = false};
  std::atomic<std::int64_t> no_room = 0;
  Remembered nothing(no_room);
  const View<const std::uint8_t> pixels = gray.picture->view();
  const SearchResult found =
      search.search({.gray = pixels, .objects = objects, .taken = {}}, at_most, nothing);
  if (found.too_small) return {};
  Counts counts{.pixels = pixels.size.area(), .windows = found.windows};
  counts.accepted.resize(static_cast<std::size_t>(whole.stage_count()) + 1);
  for (std::size_t i = 0; i < found.chosen.size(); ++i) {
    check_stop(should_stop);
    const Judgement judgement =
        whole({found.pixels.data() + i * window.area(), window, window.width});
    for (int k = 0; k <= judgement.stages_passed; ++k) ++counts.accepted[k];
  }
  if (found.chosen.size() < found.accepted)
    for (std::uint64_t& accepted : counts.accepted)
      accepted = accepted * found.accepted / found.chosen.size();
  return counts;
}

// A picture on its way through the search.
struct Visit {
  std::size_t picture = 0;
  std::optional<NegativePictures::Gray> frame{};  // these are read in their order
  Counts counts{};
};

}  // namespace

std::pair<Samples, Samples> divided(const ObjectSamples& all, const Fold& fold) {
  const std::vector<bool> is_tried = members(all.object_count(), fold);
  return divided(all, is_tried);
}

DividedPictures divided(std::shared_ptr<NegativePictures> all, const Fold& fold) {
  const std::vector<bool> is_tried = members(all->count(), fold);
  std::vector<std::size_t> learnt, tried;
  for (std::size_t i = 0; i < is_tried.size(); ++i) (is_tried[i] ? tried : learnt).push_back(i);
  return {std::make_shared<PartOfPictures>(all, std::move(learnt)),
          std::make_shared<PartOfPictures>(all, std::move(tried))};
}

double Curve::false_alarms(const CurvePoint& point) const {
  return std::max(static_cast<double>(point.accepted), 0.5) / megapixels;
}

Curve curve_of(const Cascade& cascade, int least_stages, const Samples& positives,
               NegativePictures& negatives, double scale_factor, const MakeBackend& make_backend,
               const ShouldStop& should_stop) {
  Cascade beginning = cascade;
  beginning.stages.resize(static_cast<std::size_t>(least_stages));
  const auto searched = std::make_shared<SearchedCascade>(beginning);
  const Judge whole(cascade);
  tbb::enumerable_thread_specific<PictureSearch> searches(
      [&] { return PictureSearch(searched, scale_factor, make_backend, should_stop); });

  // When the search ends by an exception, oneTBB forgets the items between two filters, so these
  // must not own anything.
  std::vector<Visit> visits(4 * static_cast<std::size_t>(tbb::this_task_arena::max_concurrency()));
  std::size_t begun = 0;
  Counts all;
  const auto begin = tbb::make_filter<void, Visit*>(
      tbb::filter_mode::serial_in_order, [&](tbb::flow_control& flow) -> Visit* {
        if (begun == negatives.count()) {
          flow.stop();
          return nullptr;
        }
        Visit* const visit = &visits[begun % visits.size()];
        *visit = {begun++};
        if (negatives.is_frame(visit->picture))
          visit->frame = negatives.read(visit->picture, should_stop);
        return visit;
      });
  const auto search =
      tbb::make_filter<Visit*, Visit*>(tbb::filter_mode::parallel, [&](Visit* visit) {
        check_stop(should_stop);
        const auto gray = negatives.is_frame(visit->picture)
                              ? std::exchange(visit->frame, std::nullopt)
                              : negatives.read(visit->picture, should_stop);
        if (gray)
          visit->counts = counts_in(*gray, negatives.objects(visit->picture), searches.local(),
                                    whole, cascade.window, should_stop);
        return visit;
      });
  const auto add = tbb::make_filter<Visit*, void>(tbb::filter_mode::serial_in_order,
                                                  [&](Visit* visit) { all.add(visit->counts); });
  tbb::parallel_pipeline(visits.size(), begin & search & add);

  all.accepted.resize(cascade.stages.size() + 1);
  Curve curve{.megapixels = static_cast<double>(all.pixels) / 1e6, .windows = all.windows};
  const std::vector<Judgement> judged = judge(cascade, positives, should_stop);
  for (int k = least_stages; k <= std::ssize(cascade.stages); ++k) {
    const auto hits =
        std::ranges::count_if(judged, [k](const Judgement& one) { return one.stages_passed >= k; });
    curve.points.push_back(
        {.stages = k,
         .accepted = all.accepted[k],
         .hit_rate = static_cast<double>(hits) /
                     static_cast<double>(std::max<std::size_t>(judged.size(), 1))});
  }
  return curve;
}

std::optional<double> hit_rate_at(const Curve& curve, double false_alarms) {
  const auto above = [&](const CurvePoint& point) {
    return curve.false_alarms(point) > false_alarms;
  };
  const auto after = std::ranges::partition_point(curve.points, above);
  if (after == curve.points.end()) return std::nullopt;
  if (after == curve.points.begin()) return after->hit_rate;
  const CurvePoint& before = *std::prev(after);
  const double from = std::log(curve.false_alarms(before)),
               to = std::log(curve.false_alarms(*after));
  const double part = (from - std::log(false_alarms)) / (from - to);
  return before.hit_rate + part * (after->hit_rate - before.hit_rate);
}

}  // namespace facesat::training
