#include "core/grouping.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "core/rules.hpp"

namespace facesat {
namespace {

// Classes of windows: disjoint sets with path halving. A window is given by its index.
class Classes {
 public:
  explicit Classes(std::size_t n) : parent_(n) { std::iota(parent_.begin(), parent_.end(), 0); }
  std::uint32_t find(std::uint32_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void unite(std::uint32_t a, std::uint32_t b) { parent_[find(a)] = find(b); }

 private:
  std::vector<std::uint32_t> parent_;
};

// Windows of one size, ordered by their top edges.
struct OneSize {
  Size size;
  std::size_t first, last;  // elements [first, last) of Tops::tops
};

// All windows, sorted by size, smaller sizes first; windows of one size from top to bottom.
struct Tops {
  struct Top {
    Rect box;
    std::uint32_t index;  // of the window
  };
  std::vector<Top> tops;
  std::vector<OneSize> sizes;

  Tops(std::span<const Window> windows, StopMeter& meter) {
    for (const Window& window : windows)
      tops.push_back({window.box, static_cast<std::uint32_t>(tops.size())});
    const auto before = [&meter](const Top& a, const Top& b) {
      meter.spend(1);
      const auto key = [](const Rect& r) {
        return std::tuple(r.width + r.height, r.width, r.y, r.x);
      };
      return key(a.box) < key(b.box);
    };
    // Detectors already return windows by size and from top to bottom.
    if (!std::is_sorted(tops.begin(), tops.end(), before))
      std::sort(tops.begin(), tops.end(), before);
    for (std::size_t i = 0; i < tops.size(); ++i) {
      const Size size{tops[i].box.width, tops[i].box.height};
      if (sizes.empty() || sizes.back().size != size) sizes.push_back({size, i, i});
      sizes.back().last = i + 1;
    }
  }
};

// Distances are limited to this, which is farther than any two points of boxes are apart.
constexpr double farthest = 1 << 29;

// similar_within() for any eps; -1 where no two rectangles are similar.
int reach_of(Size a, Size b, double eps) {
  if (eps == similarity) return similar_within(a, b);
  const double sum = std::min(a.width, b.width) + std::min(a.height, b.height);
  const double within = std::floor(eps * sum * 0.5);
  return within >= 0 ? static_cast<int>(std::min(within, farthest)) : -1;
}

// Unites similar windows of two sizes, or of one if a and b are the same. Each window is compared
// only with those whose top edges are close enough to its own for the two to be similar.
void unite_similar(const Tops& all, const OneSize& a, const OneSize& b, int reach, Classes& classes,
                   StopMeter& meter) {
  std::size_t begin = b.first;
  for (std::size_t i = a.first; i < a.last; ++i) {
    const Rect& box = all.tops[i].box;
    while (begin < b.last && all.tops[begin].box.y < box.y - reach) ++begin;
    std::size_t j = std::max(begin, &a == &b ? i + 1 : begin);
    for (; j < b.last && all.tops[j].box.y <= box.y + reach; ++j)
      if (are_similar(box, all.tops[j].box, reach))
        classes.unite(all.tops[i].index, all.tops[j].index);
    meter.spend(static_cast<std::int64_t>(j - begin) + 1);
  }
}

// The transitive closure of are_similar().
Classes classify(std::span<const Window> windows, double eps, StopMeter& meter) {
  const Tops all(windows, meter);
  Classes classes(windows.size());
  for (std::size_t a = 0; a < all.sizes.size(); ++a)
    for (std::size_t b = a; b < all.sizes.size(); ++b) {
      meter.spend(1);
      const Size small = all.sizes[a].size, large = all.sizes[b].size;
      const int reach = reach_of(small, large, eps);
      // Edges of similar windows are at most `reach` apart, so their sides differ by at most twice
      // `reach`. No larger size has a greater `reach` than `small` has with itself, so once width
      // plus height differ by more than that allows, all further sizes are too large.
      if (large.width + large.height - small.width - small.height >
          4.0 * reach_of(small, small, eps))
        break;
      if (std::abs(large.width - small.width) <= 2 * reach &&
          std::abs(large.height - small.height) <= 2 * reach)
        unite_similar(all, all.sizes[a], all.sizes[b], reach, classes, meter);
    }
  return classes;
}

void add(WindowClass& all, const Window& window) {
  all.x += window.box.x;
  all.y += window.box.y;
  all.width += window.box.width;
  all.height += window.box.height;
  ++all.count;
  all.score = std::max(all.score, window.score);
}

std::vector<WindowClass> added_up(std::span<const Window> windows, Classes classes,
                                  StopMeter& meter) {
  // For the root of each class, its index in `sums`; windows.size() if it has none yet.
  std::vector<std::size_t> number(windows.size(), windows.size());
  std::vector<WindowClass> sums;
  for (std::size_t i = 0; i < windows.size(); ++i) {
    meter.spend(1);
    std::size_t& n = number[classes.find(static_cast<std::uint32_t>(i))];
    if (n == windows.size()) {
      n = sums.size();
      sums.emplace_back();
    }
    add(sums[n], windows[i]);
  }
  return sums;
}

// The mean box, in f32 arithmetic, each coordinate rounded to the nearest integer, ties to even.
Face mean(const WindowClass& sums) {
  const float inverse = 1.0f / static_cast<float>(sums.count);
  const auto rounded = [&](std::int64_t sum) {
    return rules::round_even(static_cast<float>(sum) * inverse);
  };
  return {{rounded(sums.x), rounded(sums.y), rounded(sums.width), rounded(sums.height)},
          sums.count,
          sums.score};
}

// The area in which a face suppresses weaker ones.
Rect with_margins(const Rect& box, double eps) {
  const int dx = rules::round_even(std::min(box.width * eps, farthest));
  const int dy = rules::round_even(std::min(box.height * eps, farthest));
  return {box.x - dx, box.y - dy, box.width + 2 * dx, box.height + 2 * dy};
}

bool contains(const Rect& outer, const Rect& inner) {
  return inner.x >= outer.x && inner.y >= outer.y &&
         inner.x + inner.width <= outer.x + outer.width &&
         inner.y + inner.height <= outer.y + outer.height;
}

// OpenCV's rule for dropping a face inside another one.
bool is_weaker(const Face& inner, const Face& outer) {
  return outer.neighbors > std::max(3, inner.neighbors) || inner.neighbors < 3;
}

// The faces that no stronger one contains, in their order. A face can only contain faces whose tops
// lie within its own height, so it is compared with those alone.
std::vector<Face> without_contained(std::vector<Face> faces, double eps, StopMeter& meter) {
  std::vector<std::uint32_t> by_top(faces.size());
  std::iota(by_top.begin(), by_top.end(), 0);
  std::sort(by_top.begin(), by_top.end(), [&](std::uint32_t a, std::uint32_t b) {
    meter.spend(1);
    return faces[a].box.y < faces[b].box.y;
  });
  std::vector<char> is_contained(faces.size());
  for (std::size_t outer = 0; outer < faces.size(); ++outer) {
    const Rect area = with_margins(faces[outer].box, eps);
    const auto begin = std::ranges::lower_bound(
        by_top, area.y, {}, [&](std::uint32_t index) { return faces[index].box.y; });
    auto at = begin;
    for (; at != by_top.end() && faces[*at].box.y <= area.y + area.height; ++at)
      if (*at != outer && contains(area, faces[*at].box) && is_weaker(faces[*at], faces[outer]))
        is_contained[*at] = 1;
    meter.spend(at - begin + 1);
  }
  std::vector<Face> left;
  for (std::size_t i = 0; i < faces.size(); ++i)
    if (is_contained[i] == 0) left.push_back(faces[i]);
  return left;
}

std::vector<Face> each_by_itself(std::span<const Window> windows) {
  std::vector<Face> faces;
  faces.reserve(windows.size());
  for (const Window& window : windows) faces.push_back({window.box, 1, window.score});
  return faces;
}

}  // namespace

std::vector<Face> group_faces(std::span<const Window> windows, int min_neighbors,
                              const ShouldStop& should_stop, double eps) {
  if (min_neighbors <= 0) return each_by_itself(windows);
  StopMeter meter(should_stop);
  return group_classes(added_up(windows, classify(windows, eps, meter), meter), min_neighbors,
                       should_stop, eps);
}

std::vector<Face> group_classes(std::span<const WindowClass> classes, int min_neighbors,
                                const ShouldStop& should_stop, double eps) {
  StopMeter meter(should_stop);
  std::vector<Face> faces;
  for (const WindowClass& one : classes)
    if (one.count > min_neighbors) faces.push_back(mean(one));
  return without_contained(std::move(faces), eps, meter);
}

void sort_by_place(std::vector<Face>& faces) {
  std::sort(faces.begin(), faces.end(), [](const Face& a, const Face& b) {
    if (a.box != b.box) return a.box < b.box;
    return std::tie(a.cascade, a.score, a.neighbors) < std::tie(b.cascade, b.score, b.neighbors);
  });
}

}  // namespace facesat
