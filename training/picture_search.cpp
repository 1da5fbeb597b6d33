#include "training/picture_search.hpp"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include <tbb/task_arena.h>

#include "core/pyramid.hpp"
#include "core/rules.hpp"
#include "training/shuffle.hpp"

namespace facesat::training {
namespace {

// A cascade of one stage that every window passes, but for low variance.
Cascade accepting(const Cascade& like) {
  Cascade cascade;
  cascade.kind = like.kind;
  cascade.window = like.window;
  if (cascade.kind == FeatureKind::haar)
    cascade.haar.push_back({{{{{0, 0, 1, 1}, 1}, {{0, 0, 1, 1}, -1}, {}}}, false});
  else
    cascade.lbp.push_back({{0, 0, 1, 1}});
  cascade.nodes.push_back({.feature = 0, .left = 0, .right = -1});
  cascade.leaves = {0, 0};
  cascade.trees.push_back({0, 1, 0});
  cascade.stages.push_back({0, 1, -1});
  return cascade;
}

// About as many windows the detector searches on the CPU in the time in which one is cut out and
// judged by itself.
constexpr std::uint64_t windows_per_judged = 128;

double area(const Box& box) {
  return box.width * box.height;
}

}  // namespace

void Remembered::set(std::vector<PassingWindow> windows, SearchedCascadePtr cascade) {
  forget();
  const auto count = static_cast<std::int64_t>(windows.size());
  if (room_->fetch_sub(count) < count) {
    *room_ += count;
    return;
  }
  windows.shrink_to_fit();
  windows_ = std::move(windows);
  cascade_ = std::move(cascade);
}

void Remembered::forget() {
  if (windows_) *room_ += static_cast<std::int64_t>(windows_->size());
  windows_.reset();
  cascade_.reset();
}

bool overlaps(const Rect& window, std::span<const Box> objects) {
  constexpr double most = 0.2;
  const Box box{static_cast<double>(window.x), static_cast<double>(window.y),
                static_cast<double>(window.width), static_cast<double>(window.height)};
  return std::ranges::any_of(objects, [&](const Box& object) {
    const double width = std::min(box.x + box.width, object.x + object.width) -
                         std::max(box.x, object.x),
                 height = std::min(box.y + box.height, object.y + object.height) -
                          std::max(box.y, object.y);
    return width > 0 && height > 0 && width * height > most * std::min(area(box), area(object));
  });
}

SearchedCascade::SearchedCascade(const Cascade& cascade)
    : detector(std::make_shared<Cascade>(cascade.stages.empty() ? accepting(cascade) : cascade)),
      judge(*detector) {}

// The windows that are chosen, from those that are offered in the order of their ranks.
class PictureSearch::Choice {
 public:
  Choice(const WindowPositions& positions, std::span<const std::uint64_t> taken,
         const SearchLimit& limit)
      : positions_(positions), taken_(taken), limit_(limit) {}

  bool is_full() const { return chosen_.size() >= limit_.windows; }
  void offer(const PassingWindow& window) {
    if (std::ranges::binary_search(taken_, window.number)) return;
    const WindowPositions::Place place = positions_.place(window.number);
    if (!limit_.one_per_cell || cells_.insert(cell_of(place)).second)
      chosen_.push_back({window.number, window.score,
                         rules::clipped(positions_.box(place), positions_.pyramid().image)});
  }
  std::vector<ChosenWindow>& chosen() { return chosen_; }

 private:
  // The number of the window in the top left corner of the cell.
  std::uint64_t cell_of(const WindowPositions::Place& place) const {
    const auto [width, height] = positions_.pyramid().window;
    const int across = std::max(1, width / 4), down = std::max(1, height / 4);
    return positions_.number({place.level, place.x / across * across, place.y / down * down});
  }

  const WindowPositions& positions_;
  std::span<const std::uint64_t> taken_;
  SearchLimit limit_;
  std::unordered_set<std::uint64_t> cells_;
  std::vector<ChosenWindow> chosen_;
};

PictureSearch::PictureSearch(SearchedCascadePtr cascade, double scale_factor,
                             const MakeBackend& make_backend, const ShouldStop& should_stop)
    : cascade_(std::move(cascade)),
      scale_factor_(scale_factor),
      backend_(make_backend()),
      should_stop_(should_stop),
      window_(cascade_->detector->window) {
  backend_->stop_when(should_stop);
}

void PictureSearch::prepare(Size picture) {
  if (positions_ && positions_->pyramid().image == picture) return;
  is_prepared_ = false;
  positions_ =
      std::make_unique<WindowPositions>(picture, cascade_->detector->window, scale_factor_);
}

Judgement PictureSearch::judge(View<const std::uint8_t> gray, const WindowPositions::Place& place) {
  positions_->cut(gray, place, window_.view());
  return cascade_->judge(std::as_const(window_).view());
}

SearchResult PictureSearch::search(const SearchedPicture& picture, const SearchLimit& limit,
                                   Remembered& remembered) {
  prepare(picture.gray.size);
  if (positions_->count() == 0) return {.too_small = true};
  std::optional<SearchResult> sampled = sample(picture, limit);
  SearchResult result = sampled ? std::move(*sampled) : search_whole(picture, limit, remembered);
  const Size window = window_.size();
  result.pixels.resize(result.chosen.size() * window.area());
  for (std::size_t i = 0; i < result.chosen.size(); ++i)
    positions_->cut(picture.gray, positions_->place(result.chosen[i].number),
                    {result.pixels.data() + i * window.area(), window, window.width});
  return result;
}

// Judges positions one at a time, in their order. Gives up, with nullopt, when so few pass that it
// would take longer than a quarter of a search of the whole picture.
std::optional<SearchResult> PictureSearch::sample(const SearchedPicture& picture,
                                                  const SearchLimit& limit) {
  constexpr std::uint64_t at_least = 64;
  const std::uint64_t count = positions_->count();
  const std::uint64_t most = std::max(at_least, count / windows_per_judged / 4);
  const Shuffle order(count, picture.key);
  Choice choice(*positions_, picture.taken, limit);
  SearchResult result;
  for (std::uint64_t rank = 0; rank < count && !choice.is_full(); ++rank) {
    const bool is_hopeless =
        rank >= at_least && 4 * choice.chosen().size() * most < limit.windows * rank;
    if (rank >= most || is_hopeless) return std::nullopt;
    check_stop(should_stop_);
    const std::uint64_t number = order.at(rank);
    const WindowPositions::Place place = positions_->place(number);
    if (overlaps(positions_->box(place), picture.objects)) continue;
    ++result.windows;
    const Judgement judgement = judge(picture.gray, place);
    if (!cascade_->judge.passes(judgement)) continue;
    ++result.accepted;
    choice.offer({number, judgement.score});
  }
  // These windows stand for all of the picture, which then counts as much as one that is searched
  // as a whole: otherwise, pictures in which few windows pass would decide the rate.
  if (result.windows > 0) result.accepted = count * result.accepted / result.windows;
  result.windows = count;
  result.chosen = std::move(choice.chosen());
  return result;
}

SearchResult PictureSearch::search_whole(const SearchedPicture& picture, const SearchLimit& limit,
                                         Remembered& remembered) {
  std::vector<PassingWindow> found;
  if (!remembered.is_of(cascade_)) {
    const auto& earlier = remembered.windows();
    if (earlier && is_faster_judged(earlier->size()))
      found = judging_.measure(earlier->size(), [&] { return judge_again(picture, *earlier); });
    else
      found = detecting_.measure(positions_->count(), [&] { return detect(picture); });
  }
  const std::vector<PassingWindow>& passing =
      remembered.is_of(cascade_) ? *remembered.windows() : found;
  Choice choice(*positions_, picture.taken, limit);
  for (std::size_t i = 0; i < passing.size() && !choice.is_full(); ++i) choice.offer(passing[i]);
  SearchResult result{.windows = positions_->count(),
                      .accepted = passing.size(),
                      .chosen = std::move(choice.chosen())};
  if (!remembered.is_of(cascade_)) remembered.set(std::move(found), cascade_);
  return result;
}

// Would it take less time to judge so many windows one at a time than to search the picture? On a
// GPU, which searches it a hundred times as fast, only a few.
bool PictureSearch::is_faster_judged(std::uint64_t windows) const {
  if (detecting_.is_known() && judging_.is_known())
    return judging_.seconds_for(windows) <= detecting_.seconds_for(positions_->count());
  return windows <= positions_->count() / windows_per_judged;
}

std::vector<PassingWindow> PictureSearch::detect(const SearchedPicture& picture) {
  // Isolated: a backend may wait for other threads, and this one must not begin another picture
  // meanwhile, with the same backend.
  tbb::this_task_arena::isolate([&] {
    if (!is_prepared_) {
      const DetectOptions options{
          .scale_factor = scale_factor_, .min_neighbors = 0, .scan = Scan::dense};
      backend_->prepare(cascade_->detector, positions_->pyramid(), options);
      is_prepared_ = true;
    }
    backend_->load(picture.gray);
    backend_->run();
    backend_->collect();
  });
  const Shuffle order(positions_->count(), picture.key);
  std::vector<std::pair<std::uint64_t, PassingWindow>> ranked;
  for (const Window& window : backend_->windows())
    if (!overlaps(window.box, picture.objects)) {
      const std::uint64_t number = positions_->number({window.level, window.x, window.y});
      ranked.push_back({order.rank_of(number), {number, window.score}});
    }
  std::ranges::sort(ranked, {}, [](const auto& one) { return one.first; });
  std::vector<PassingWindow> passing(ranked.size());
  std::ranges::transform(ranked, passing.begin(), [](const auto& one) { return one.second; });
  return passing;
}

std::vector<PassingWindow> PictureSearch::judge_again(const SearchedPicture& picture,
                                                      const std::vector<PassingWindow>& windows) {
  std::vector<PassingWindow> passing;
  for (const auto& [number, score] : windows) {
    check_stop(should_stop_);
    const Judgement judgement = judge(picture.gray, positions_->place(number));
    if (cascade_->judge.passes(judgement)) passing.push_back({number, judgement.score});
  }
  return passing;
}

}  // namespace facesat::training
