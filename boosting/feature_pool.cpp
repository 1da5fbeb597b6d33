#include "boosting/feature_pool.hpp"

#include <cstdint>

#include <fmt/format.h>

#include "facesat/types.hpp"

namespace facesat::training {
namespace {

// The Haar features that consist of cells of one size, of which `cell` is the first.
class HaarForms {
 public:
  HaarForms(FeaturePool& pool, const Rect& cell) : pool_(pool), c_(cell) {}

  void add(FeatureSet set) {
    const auto [x, y, w, h] = c_;
    if (fits(2, 1)) upright(cells(0, 0, 2, 1), cells(1, 0, 1, 1));
    if (fits(1, 2)) upright(cells(0, 0, 1, 2), cells(0, 1, 1, 1));
    if (fits(3, 1)) upright(cells(0, 0, 3, 1), cells(1, 0, 1, 1));
    if (fits(1, 3)) upright(cells(0, 0, 1, 3), cells(0, 1, 1, 1));
    if (set != FeatureSet::haar_basic) {
      if (fits(4, 1)) upright(cells(0, 0, 4, 1), cells(1, 0, 2, 1));
      if (fits(1, 4)) upright(cells(0, 0, 1, 4), cells(0, 1, 1, 2));
    }
    if (fits(2, 2))
      pool_.haar.push_back(
          {.parts = {{{cells(0, 0, 2, 2), -1}, {cells(0, 0, 1, 1), 2}, {cells(1, 1, 1, 1), 2}}}});
    if (set != FeatureSet::haar_basic && fits(3, 3))
      upright(cells(0, 0, 3, 3), cells(1, 1, 1, 1), 9);
    if (set != FeatureSet::haar_all) return;
    if (fits_tilted(2, 1)) tilted({x, y, 2 * w, h}, c_, 2);
    if (fits_tilted(1, 2)) tilted({x, y, w, 2 * h}, c_, 2);
    if (fits_tilted(3, 1)) tilted({x, y, 3 * w, h}, {x + w, y + w, w, h}, 3);
    if (fits_tilted(1, 3)) tilted({x, y, w, 3 * h}, {x - h, y + h, w, h}, 3);
    if (fits_tilted(4, 1)) tilted({x, y, 4 * w, h}, {x + w, y + w, 2 * w, h}, 2);
    if (fits_tilted(1, 4)) tilted({x, y, w, 4 * h}, {x - h, y + h, w, 2 * h}, 2);
  }

 private:
  Rect cells(int column, int row, int columns, int rows) const {
    return {c_.x + column * c_.width, c_.y + row * c_.height, columns * c_.width, rows * c_.height};
  }
  bool fits(int columns, int rows) const {
    return c_.x + columns * c_.width <= pool_.window.width &&
           c_.y + rows * c_.height <= pool_.window.height;
  }
  // Cells lie side by side down to the right, and above each other down to the left.
  bool fits_tilted(int columns, int rows) const {
    const int w = columns * c_.width, h = rows * c_.height;
    return c_.x + w <= pool_.window.width && c_.y + w + h <= pool_.window.height && c_.x - h >= 0;
  }
  void upright(const Rect& whole, const Rect& part, float weight = 2) {
    pool_.haar.push_back({.parts = {{{whole, -1}, {part, weight}, {}}}});
  }
  void tilted(const Rect& whole, const Rect& part, float weight) {
    pool_.haar.push_back({.parts = {{{whole, -1}, {part, weight}, {}}}, .tilted = true});
  }

  FeaturePool& pool_;
  Rect c_;
};

// The places and sizes of a form that is `cells` cells long, along a side of the window.
std::uint64_t places(int side, int cells) {
  std::uint64_t count = 0;
  for (int length = cells; length <= side; length += cells) count += side - length + 1;
  return count;
}

// The number of features, without tilted ones.
std::uint64_t upright_count(FeatureSet set, Size window) {
  const auto form = [window](int columns, int rows) {
    return places(window.width, columns) * places(window.height, rows);
  };
  if (set == FeatureSet::lbp) return form(3, 3);
  const std::uint64_t basic = form(2, 1) + form(1, 2) + form(3, 1) + form(1, 3) + form(2, 2);
  return set == FeatureSet::haar_basic ? basic : basic + form(4, 1) + form(1, 4) + form(3, 3);
}

}  // namespace

FeaturePool make_pool(FeatureSet set, Size window) {
  constexpr std::uint64_t most = 30'000'000;  // gigabytes, and minutes for a tree
  const std::uint64_t count = upright_count(set, window);
  if (count > most)
    throw ArgumentError(
        fmt::format("a window of {}x{} has {} million features, too many to choose from: "
                    "take a smaller one",
                    window.width, window.height, count / 1'000'000));
  FeaturePool pool{.kind = kind_of(set), .window = window};
  for (int x = 0; x < window.width; ++x)
    for (int y = 0; y < window.height; ++y)
      for (int w = 1; w <= window.width; ++w)
        for (int h = 1; h <= window.height; ++h) {
          if (set != FeatureSet::lbp)
            HaarForms(pool, {x, y, w, h}).add(set);
          else if (x + 3 * w <= window.width && y + 3 * h <= window.height)
            pool.lbp.push_back({{x, y, w, h}});
        }
  return pool;
}

}  // namespace facesat::training
