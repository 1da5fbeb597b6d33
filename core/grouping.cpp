#include "core/grouping.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <numeric>

namespace facesat {
namespace {

constexpr double eps = 0.2;

bool similar(const Rect& a, const Rect& b) {
  const double delta = eps * (std::min(a.width, b.width) + std::min(a.height, b.height)) * 0.5;
  return std::abs(a.x - b.x) <= delta && std::abs(a.y - b.y) <= delta &&
         std::abs(a.x + a.width - b.x - b.width) <= delta &&
         std::abs(a.y + a.height - b.y - b.height) <= delta;
}

// Disjoint sets with path halving.
class Classes {
 public:
  explicit Classes(std::size_t n) : parent_(n) { std::iota(parent_.begin(), parent_.end(), 0); }
  std::size_t find(std::size_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void unite(std::size_t a, std::size_t b) { parent_[find(a)] = find(b); }

 private:
  std::vector<std::size_t> parent_;
};

// The transitive closure of similar(). Windows are swept by their left edge: two similar ones are
// never further apart than delta can be, which the first one's size bounds.
Classes classify(std::span<const Face> windows) {
  std::vector<std::size_t> order(windows.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return windows[a].box.x < windows[b].box.x; });
  Classes classes(windows.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Rect& a = windows[order[i]].box;
    const double reach = a.x + eps * (a.width + a.height) * 0.5;
    for (std::size_t j = i + 1; j < order.size() && windows[order[j]].box.x <= reach; ++j)
      if (similar(a, windows[order[j]].box)) classes.unite(order[i], order[j]);
  }
  return classes;
}

// The windows of one class, added up.
struct Sums {
  std::int64_t x = 0, y = 0, width = 0, height = 0;
  int count = 0;
  double score = -std::numeric_limits<double>::infinity();

  void add(const Face& window) {
    x += window.box.x;
    y += window.box.y;
    width += window.box.width;
    height += window.box.height;
    ++count;
    score = std::max(score, window.score);
  }

  // f32 arithmetic, each coordinate rounded to even.
  Face mean() const {
    const float inverse = 1.0f / static_cast<float>(count);
    const auto rounded = [&](std::int64_t sum) {
      return static_cast<int>(std::lrint(static_cast<float>(sum) * inverse));
    };
    return {{rounded(x), rounded(y), rounded(width), rounded(height)}, count, score};
  }
};

// One face for each class: the mean box, the number of windows, the best score.
std::vector<Face> class_means(std::span<const Face> windows) {
  Classes classes = classify(windows);
  std::vector<Sums> sums(windows.size());
  for (std::size_t i = 0; i < windows.size(); ++i) sums[classes.find(i)].add(windows[i]);
  std::vector<Face> means;
  for (const Sums& sum : sums)
    if (sum.count > 0) means.push_back(sum.mean());
  return means;
}

// Is `inner` within `outer` and its margins, and weaker?
bool swallows(const Face& outer, const Face& inner) {
  const int dx = static_cast<int>(std::lrint(outer.box.width * eps));
  const int dy = static_cast<int>(std::lrint(outer.box.height * eps));
  const Rect &o = outer.box, &i = inner.box;
  return i.x >= o.x - dx && i.y >= o.y - dy && i.x + i.width <= o.x + o.width + dx &&
         i.y + i.height <= o.y + o.height + dy &&
         (outer.neighbors > std::max(3, inner.neighbors) || inner.neighbors < 3);
}

}  // namespace

std::vector<Face> group_faces(std::span<const Face> windows, int min_neighbors) {
  if (min_neighbors <= 0) return {windows.begin(), windows.end()};
  std::vector<Face> kept = class_means(windows);
  std::erase_if(kept, [&](const Face& face) { return face.neighbors <= min_neighbors; });
  std::vector<Face> faces;
  for (const Face& face : kept)
    if (std::none_of(kept.begin(), kept.end(),
                     [&](const Face& other) { return &other != &face && swallows(other, face); }))
      faces.push_back(face);
  return faces;
}

}  // namespace facesat
