// Finds the windows of one picture that a cascade takes for objects, and chooses some of them.
//
// Windows are chosen in a pseudo-random order of all positions of the picture (Shuffle): those that
// pass, and come first in it. Which these are does not depend on how they are found:
//   - While many windows pass, as in a cascade's first stages, positions are judged one at a time
//     in that order until there are enough.
//   - Otherwise the detector searches the whole picture. The windows that pass are remembered: a
//     cascade with further stages needs to look at no others.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/backend.hpp"
#include "core/cascade.hpp"
#include "core/stop.hpp"
#include "training/judge.hpp"
#include "training/negative_pictures.hpp"
#include "training/window_positions.hpp"

namespace facesat::training {

using MakeBackend = std::function<std::unique_ptr<Backend>()>;

// A cascade as the threads of a search share it.
struct SearchedCascade {
  std::shared_ptr<const Cascade> detector;  // of at least one stage
  Judge judge;

  // A cascade without stages accepts all windows that are not of low variance.
  explicit SearchedCascade(const Cascade& cascade);
};
using SearchedCascadePtr = std::shared_ptr<const SearchedCascade>;

struct PassingWindow {
  std::uint64_t number;  // of WindowPositions
  double score;          // sum of the last stage
};

// The windows of a picture that a cascade accepts, in the picture's order, but for those at
// objects; if there is memory for them.
class Remembered {
 public:
  // `room`: for how many more windows there is memory, in all pictures.
  explicit Remembered(std::atomic<std::int64_t>& room) : room_(&room) {}

  const std::optional<std::vector<PassingWindow>>& windows() const { return windows_; }
  bool is_of(const SearchedCascadePtr& cascade) const { return windows_ && cascade_ == cascade; }
  // Nothing is remembered if there is no room.
  void set(std::vector<PassingWindow> windows, SearchedCascadePtr cascade);
  void forget();

 private:
  std::atomic<std::int64_t>* room_;
  std::optional<std::vector<PassingWindow>> windows_;
  SearchedCascadePtr cascade_;
};

// A picture to be searched.
struct SearchedPicture {
  View<const std::uint8_t> gray;
  std::span<const Box> objects;          // windows that overlap them are left out
  std::uint64_t key = 0;                 // of its order of positions
  std::span<const std::uint64_t> taken;  // windows that are not to be chosen again, sorted
};

// How many windows of a picture are chosen.
struct SearchLimit {
  std::uint64_t windows = 1;
  // At most one of each cell of a quarter of the window, on each level: its neighbours show nearly
  // the same.
  bool one_per_cell = true;
};

struct ChosenWindow {
  std::uint64_t number;
  double score;
  Rect box;  // in the picture
};

struct SearchResult {
  bool too_small = false;      // no window fits into the picture
  std::uint64_t windows = 0;   // of the picture
  std::uint64_t accepted = 0;  // of these, by the cascade, outside objects: counted or estimated
  std::vector<ChosenWindow> chosen{};
  std::vector<std::uint8_t> pixels{};  // of the chosen ones, as Samples::pixels
};

// Does the window overlap an object by more than a fifth of the smaller of both? Then it shows much
// of the object, or lies in it, or is larger and has the whole object in it.
bool overlaps(const Rect& window, std::span<const Box> objects);

// To be used by one thread at a time.
class PictureSearch {
 public:
  // `should_stop` must outlive the search.
  PictureSearch(SearchedCascadePtr cascade, double scale_factor, const MakeBackend& make_backend,
                const ShouldStop& should_stop);

  // Throws Stopped, MemoryError.
  SearchResult search(const SearchedPicture& picture, const SearchLimit& limit,
                      Remembered& remembered);

 private:
  class Choice;

  // The shortest time that a kind of work has taken per window: in its first call, a device also
  // loads code.
  class Pace {
   public:
    template <class Work>
    auto measure(std::uint64_t windows, Work work) {
      const auto begin = std::chrono::steady_clock::now();
      auto result = work();
      const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
      if (windows > 0) seconds_ = std::min(seconds_, taken.count() / static_cast<double>(windows));
      return result;
    }
    bool is_known() const { return seconds_ < unknown; }
    double seconds_for(std::uint64_t windows) const {
      return seconds_ * static_cast<double>(windows);
    }

   private:
    static constexpr double unknown = std::numeric_limits<double>::infinity();
    double seconds_ = unknown;
  };

  void prepare(Size picture);
  std::optional<SearchResult> sample(const SearchedPicture& picture, const SearchLimit& limit);
  SearchResult search_whole(const SearchedPicture& picture, const SearchLimit& limit,
                            Remembered& remembered);
  bool is_faster_judged(std::uint64_t windows) const;
  std::vector<PassingWindow> detect(const SearchedPicture& picture);
  std::vector<PassingWindow> judge_again(const SearchedPicture& picture,
                                         const std::vector<PassingWindow>& windows);
  Judgement judge(View<const std::uint8_t> gray, const WindowPositions::Place& place);

  SearchedCascadePtr cascade_;
  double scale_factor_;
  std::unique_ptr<Backend> backend_;
  const ShouldStop& should_stop_;
  std::unique_ptr<WindowPositions> positions_;  // on the heap: the backend borrows its pyramid
  bool is_prepared_ = false;                    // is the backend, for these positions?
  Pace detecting_, judging_;
  Image<std::uint8_t> window_;
};

}  // namespace facesat::training
