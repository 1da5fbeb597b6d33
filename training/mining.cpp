#include "training/mining.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <new>
#include <optional>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_pipeline.h>
#include <tbb/task_arena.h>

#include "core/pyramid.hpp"
#include "training/cascade_prefix.hpp"
#include "training/shuffle.hpp"

namespace facesat::training {
namespace {

using Gray = View<const std::uint8_t>;

// ---- keys of windows: the place of the picture in the pool, and the number of the window in it

constexpr int number_bits = 40;
constexpr std::uint64_t number_mask = (std::uint64_t{1} << number_bits) - 1;
constexpr std::size_t most_places = std::size_t{1} << (64 - number_bits);

// ---- mirror images

Image<std::uint8_t> mirror_image(Gray picture) {
  Image<std::uint8_t> mirrored(picture.size);
  for (int y = 0; y < picture.size.height; ++y)
    std::reverse_copy(picture.row(y), picture.row(y) + picture.size.width, mirrored.row(y));
  return mirrored;
}

// A box in the mirror image of a picture of this width.
Rect mirror_image(const Rect& box, int width) {
  return {width - box.x - box.width, box.y, box.width, box.height};
}
Box mirror_image(const Box& box, int width) {
  return {width - box.x - box.width, box.y, box.width, box.height};
}

// ---- progress

// Counts what a call has done, and reports it whenever the calling thread asks whether to stop.
class Reporter {
 public:
  Reporter(const std::function<void(const MiningProgress&)>& report, const ShouldStop& should_stop)
      : report_(report), should_stop_(should_stop) {}

  ShouldStop polling() {
    return [this] {
      if (std::this_thread::get_id() == caller_ && Clock::now() >= next_) report();
      return should_stop_ && should_stop_();
    };
  }
  template <class Change>
  void change(Change change) {
    const std::scoped_lock lock(mutex_);
    change(progress_);
  }
  MiningProgress progress() const {
    const std::scoped_lock lock(mutex_);
    return progress_;
  }
  void report() {
    if (report_) report_(progress());
    next_ = Clock::now() + interval;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr auto interval = std::chrono::milliseconds(100);

  const std::function<void(const MiningProgress&)>& report_;
  const ShouldStop& should_stop_;
  std::thread::id caller_ = std::this_thread::get_id();
  Clock::time_point next_ = Clock::now() + interval;  // of the calling thread
  mutable std::mutex mutex_;
  MiningProgress progress_;
};

// ---- the mine

// What is known of a picture, or of its mirror image.
struct Place {
  std::vector<std::uint64_t> taken;  // numbers of windows, sorted
  Remembered remembered;
};

// What is wrong with a picture.
struct Problem {
  std::string sentence{};
  Size too_small{};  // its size, if no window fits
};

// A picture on its way through a round.
struct Visit {
  std::size_t place = 0;
  std::optional<NegativePictures::Gray>
      gray{};             // of frames of videos, which are read in their order
  std::string problem{};  // why it cannot be searched, or is damaged
  Size size{};            // empty: it has not been searched
  SearchResult result{};
};

class PictureMine final : public Mine {
 public:
  PictureMine(std::shared_ptr<NegativePictures> negatives, const MiningOptions& options,
              MakeBackend make_backend)
      : negatives_(std::move(negatives)),
        options_(options),
        make_backend_(std::move(make_backend)),
        room_(static_cast<std::int64_t>(options.remembered_bytes / sizeof(PassingWindow))),
        places_(negatives_->count() * (options.mirrored ? 2 : 1), Place{{}, Remembered(room_)}),
        problems_(negatives_->count()) {
    check({.scale_factor = options.scale_factor});
    if (options.per_picture < 0)
      throw ArgumentError(fmt::format("the number of windows per picture must not be negative: {}",
                                      options.per_picture));
    if (places_.size() >= most_places)
      throw ArgumentError(
          fmt::format("there are {} pictures to look for negatives in: {} are possible",
                      negatives_->count(), most_places / 2));
  }

  MiningProgress find(const Cascade& cascade, std::size_t wanted, Samples& samples,
                      const std::function<void(const MiningProgress&)>& report,
                      const ShouldStop& should_stop) override;

  const std::vector<Origin>& origins() const override { return origins_; }
  MineState state() const override;
  void restore(const MineState& state) override;
  std::vector<std::string> warnings() const override;

 private:
  struct Call;

  std::size_t picture_of(std::size_t place) const { return place % negatives_->count(); }
  bool is_mirrored(std::size_t place) const { return place >= negatives_->count(); }
  std::uint64_t pool() const;
  void expect(const Cascade& cascade);
  void search_rounds(Call& call);
  void search_round(Call& call, const SearchLimit& limit);
  void search(Call& call, PictureSearch& search, Visit& visit, const SearchLimit& limit);
  void read(Call& call, Visit& visit);
  void take(Call& call, const Visit& visit);
  void undo(const Call& call);

  std::shared_ptr<NegativePictures> negatives_;
  MiningOptions options_;
  MakeBackend make_backend_;
  std::atomic<std::int64_t> room_;  // for how many more windows, in all places
  // All pictures, then their mirror images. While a round runs, an element belongs to the thread
  // that has the visit to it.
  std::vector<Place> places_;
  std::size_t next_ = 0;            // place with which the next call begins
  std::optional<Cascade> cascade_;  // that of the last call: what it rejects is not remembered
  std::vector<Problem> problems_;   // of each picture
  std::vector<Origin> origins_;
};

using Searches = tbb::enumerable_thread_specific<PictureSearch>;  // one per thread

// Of find(): what it appends in the end.
struct PictureMine::Call {
  std::size_t wanted;
  Reporter& reporter;
  const ShouldStop& should_stop;
  // A device's memory is free again once the call ends.
  Searches searches;
  Samples found;
  std::vector<Origin> origins{};
  std::vector<std::pair<std::size_t, std::uint64_t>> taken{};  // place and window
  std::size_t next = 0;      // place after the last one that was searched
  std::size_t searched = 0;  // pictures in which a window fits

  bool is_done() const { return found.count() >= wanted; }
};

MiningProgress PictureMine::find(const Cascade& cascade, std::size_t wanted, Samples& samples,
                                 const std::function<void(const MiningProgress&)>& report,
                                 const ShouldStop& should_stop) {
  expect(cascade);
  Reporter reporter(report, should_stop);
  reporter.change([&](MiningProgress& progress) {
    progress.wanted = wanted;
    progress.all_pictures = places_.size();
  });
  const auto searched = std::make_shared<SearchedCascade>(cascade);
  const ShouldStop polling = reporter.polling();
  Call call{wanted,
            reporter,
            polling,
            Searches([&] {
              return PictureSearch(searched, options_.scale_factor, make_backend_, polling);
            }),
            {cascade.window, {}}};
  call.next = next_;
  try {
    reporter.report();
    search_rounds(call);
    reporter.report();
    samples.pixels.insert(samples.pixels.end(), call.found.pixels.begin(), call.found.pixels.end());
  } catch (...) {
    undo(call);
    throw;
  }
  next_ = call.next;
  origins_ = std::move(call.origins);
  return reporter.progress();
}

// Forgets what was remembered of a cascade that this one does not continue.
void PictureMine::expect(const Cascade& cascade) {
  if (cascade_ && !begins_with(cascade, *cascade_))
    for (Place& place : places_) place.remembered.forget();
  cascade_ = cascade;
}

void PictureMine::search_rounds(Call& call) {
  // Twice as many as would be needed if all pictures gave the same number.
  SearchLimit limit{options_.per_picture > 0
                        ? static_cast<std::uint64_t>(options_.per_picture)
                        : (2 * call.wanted + places_.size() - 1) / places_.size()};
  while (!call.is_done()) {
    const std::size_t before = call.found.count();
    call.reporter.change([](MiningProgress& progress) { progress.pictures = 0; });
    search_round(call, limit);
    if (call.searched == 0) {
      const std::vector<std::string> reasons = warnings();
      throw ArgumentError(
          fmt::format("no negatives in {} picture{}: {}", negatives_->count(),
                      negatives_->count() == 1 ? "" : "s",
                      reasons.empty() ? "the videos have no frames" : reasons.front()));
    }
    if (call.found.count() == before || options_.per_picture > 0 || call.is_done()) break;
    limit = {2 * limit.windows, false};
    call.reporter.change([](MiningProgress& progress) { ++progress.round; });
  }
}

// Searches every picture once, or until there are enough windows.
void PictureMine::search_round(Call& call, const SearchLimit& limit) {
  // When a round ends by an exception, oneTBB forgets the items between two filters, so these must
  // not own anything.
  std::vector<Visit> visits(4 * static_cast<std::size_t>(tbb::this_task_arena::max_concurrency()));
  const std::size_t first = call.next;
  std::size_t begun = 0;
  std::atomic<bool> is_done = false;
  const auto begin = tbb::make_filter<void, Visit*>(
      tbb::filter_mode::serial_in_order, [&](tbb::flow_control& flow) -> Visit* {
        if (is_done || begun == places_.size()) {
          flow.stop();
          return nullptr;
        }
        Visit* const visit = &visits[begun % visits.size()];
        *visit = {(first + begun++) % places_.size()};
        if (negatives_->is_frame(picture_of(visit->place))) read(call, *visit);
        return visit;
      });
  const auto search_one =
      tbb::make_filter<Visit*, Visit*>(tbb::filter_mode::parallel, [&](Visit* visit) {
        if (!is_done) search(call, call.searches.local(), *visit, limit);
        return visit;
      });
  // What was begun beyond the last picture that is needed counts for nothing.
  const auto take_one =
      tbb::make_filter<Visit*, void>(tbb::filter_mode::serial_in_order, [&](Visit* visit) {
        if (!is_done) take(call, *visit);
        if (call.is_done()) is_done = true;
        *visit = {};
      });
  tbb::parallel_pipeline(visits.size(), begin & search_one & take_one);
}

// Calls work(); what is wrong with the picture does not end the search of the others.
template <class Work>
void attempt(Visit& visit, Work work) {
  try {
    work();
  } catch (const MemoryError& error) {
    visit.problem = error.what();
  } catch (const std::bad_alloc&) {
    visit.problem = "there is not enough memory";
  }
}

void PictureMine::read(Call& call, Visit& visit) {
  attempt(visit, [&] {
    visit.gray = negatives_->read(picture_of(visit.place), call.should_stop);
    if (visit.gray) visit.problem = visit.gray->warning;
  });
}

void PictureMine::search(Call& call, PictureSearch& search, Visit& visit,
                         const SearchLimit& limit) {
  const std::size_t picture = picture_of(visit.place);
  if (!negatives_->is_frame(picture)) read(call, visit);
  if (!visit.gray || !visit.gray->picture) return;
  attempt(visit, [&] {
    const auto owner = std::exchange(visit.gray, std::nullopt)->picture;
    const Gray original = owner->view();
    const bool mirrored = is_mirrored(visit.place);
    const Image<std::uint8_t> mirror = mirrored ? mirror_image(original) : Image<std::uint8_t>();
    std::vector<Box> objects;
    for (const Box& object : negatives_->objects(picture))
      objects.push_back(mirrored ? mirror_image(object, original.size.width) : object);
    Place& place = places_[visit.place];
    visit.result = search.search({mirrored ? mirror.view() : original, objects,
                                  mixed(mixed(options_.seed) + visit.place), place.taken},
                                 limit, place.remembered);
    visit.size = original.size;
  });
}

void PictureMine::take(Call& call, const Visit& visit) {
  const SearchResult& result = visit.result;
  Problem& problem = problems_[picture_of(visit.place)];
  if (!visit.problem.empty()) problem.sentence = visit.problem;
  if (result.too_small) problem.too_small = visit.size;
  if (visit.size.area() > 0 && !result.too_small) ++call.searched;

  const std::size_t count = std::min(result.chosen.size(), call.wanted - call.found.count());
  const auto end =
      result.pixels.begin() + static_cast<std::ptrdiff_t>(count * call.found.window.area());
  call.found.pixels.insert(call.found.pixels.end(), result.pixels.begin(), end);
  std::vector<std::uint64_t>& taken = places_[visit.place].taken;
  for (std::size_t i = 0; i < count; ++i) {
    const ChosenWindow& chosen = result.chosen[i];
    const bool mirrored = is_mirrored(visit.place);
    call.origins.push_back({picture_of(visit.place), mirrored,
                            mirrored ? mirror_image(chosen.box, visit.size.width) : chosen.box,
                            chosen.score});
    call.taken.emplace_back(visit.place, chosen.number);
    taken.push_back(chosen.number);
  }
  std::ranges::sort(taken);
  call.next = (visit.place + 1) % places_.size();
  call.reporter.change([&](MiningProgress& progress) {
    progress.found = call.found.count();
    if (progress.round == 1) {
      progress.windows += result.windows;
      progress.accepted += result.accepted;
    }
    ++progress.pictures;
  });
}

void PictureMine::undo(const Call& call) {
  for (const auto& [place, number] : call.taken) {
    std::vector<std::uint64_t>& taken = places_[place].taken;
    taken.erase(std::ranges::lower_bound(taken, number));
  }
}

// ---- state and warnings

std::uint64_t PictureMine::pool() const {
  return mixed(negatives_->checksum() + options_.mirrored);
}

MineState PictureMine::state() const {
  MineState state{next_, {}, pool()};
  for (std::size_t place = 0; place < places_.size(); ++place)
    for (const std::uint64_t number : places_[place].taken)
      state.taken.push_back(place << number_bits | number);
  return state;
}

void PictureMine::restore(const MineState& state) {
  const bool fits = state.pool == pool() && state.next_picture < places_.size() &&
                    std::ranges::is_sorted(state.taken) &&
                    (state.taken.empty() || state.taken.back() >> number_bits < places_.size());
  if (!fits)
    throw ArgumentError(
        "the pictures to look for negatives in are not those with which training began: the same "
        "files are needed, in the same order");
  next_ = state.next_picture;
  for (Place& place : places_) place.taken.clear();
  for (const std::uint64_t key : state.taken)
    places_[key >> number_bits].taken.push_back(key & number_mask);
}

std::vector<std::string> PictureMine::warnings() const {
  constexpr std::size_t most = 10;
  std::vector<std::string> all = negatives_->warnings();
  std::size_t small = 0, first_small = 0;
  for (std::size_t picture = 0; picture < problems_.size(); ++picture) {
    const Problem& problem = problems_[picture];
    if (!problem.sentence.empty())
      all.push_back(fmt::format("{}: {}", negatives_->name(picture), problem.sentence));
    if (problem.too_small.area() > 0 && small++ == 0) first_small = picture;
  }
  if (all.size() > most) {
    const std::size_t more = all.size() - most;
    all.resize(most);
    all.push_back(fmt::format("{} more {} read, or damaged", more,
                              more == 1 ? "input cannot be" : "inputs cannot be"));
  }
  if (small > 0) {
    const Size size = problems_[first_small].too_small;
    all.push_back(fmt::format(
        "{}: {}x{} pixels are less than the window{}", negatives_->name(first_small), size.width,
        size.height, small == 1 ? "" : fmt::format(", and so are those of {} more", small - 1)));
  }
  return all;
}

}  // namespace

std::unique_ptr<Mine> open_mine(std::shared_ptr<NegativePictures> negatives,
                                const MiningOptions& options, MakeBackend make_backend) {
  return std::make_unique<PictureMine>(std::move(negatives), options, std::move(make_backend));
}

}  // namespace facesat::training
