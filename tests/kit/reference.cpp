#include "tests/kit/reference.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace facesat::test::reference {
namespace {

using Pixels = View<const std::uint8_t>;

int round_even(double v) {
  return static_cast<int>(std::nearbyint(v));
}

// ---- resize -------------------------------------------------------------------------------------

// The two source pixels of one axis that make up a target pixel, and their weights in 1/256.
struct Interpolation {
  int first, second;
  std::uint32_t first_weight, second_weight;
};

Interpolation interpolation(int i, int source, int target) {
  const double scale = 1.0 / (static_cast<double>(target) / source);
  const double position = scale * (i + 0.5) - 0.5;
  const double k = std::floor(position);
  if (k < 0) return {0, 0, 256, 0};
  if (k >= source - 1) return {source - 1, source - 1, 256, 0};
  const int first = static_cast<int>(k), weight = round_even((position - k) * 256);
  return {first, first + 1, static_cast<std::uint32_t>(256 - weight),
          static_cast<std::uint32_t>(weight)};
}

std::uint32_t along_x(const std::uint8_t* row, const Interpolation& c) {
  return c.first_weight * row[c.first] + c.second_weight * row[c.second];
}

// ---- tables -------------------------------------------------------------------------------------

// Sums over any part of a row, in 64 bits.
class RowSums {
 public:
  template <class Value>
  RowSums(Pixels picture, Value value) : width_(picture.size.width) {
    for (int y = 0; y < picture.size.height; ++y) {
      auto& prefix = rows_.emplace_back(1, 0);
      for (int x = 0; x < width_; ++x) prefix.push_back(prefix.back() + value(picture.row(y)[x]));
    }
  }
  // The sum of those of the pixels first .. last - 1 of row y that exist.
  std::uint64_t between(int y, int first, int last) const {
    return rows_[y][std::clamp(last, 0, width_)] - rows_[y][std::clamp(first, 0, width_)];
  }

 private:
  int width_;
  std::vector<std::vector<std::uint64_t>> rows_;
};

// A table with its borders, whose element (x, y) is the sum over rows v <= y of `part(x, y, v)`.
template <class Part>
Image<std::uint32_t> table(Size size, Part part) {
  Image<std::uint32_t> result({size.width + 1, size.height + 1});
  for (int y = -1; y < size.height; ++y)
    for (int x = -1; x < size.width; ++x) {
      std::uint64_t sum = 0;
      for (int v = 0; v <= y; ++v) sum += part(x, y, v);
      result.row(y + 1)[x + 1] = static_cast<std::uint32_t>(sum);
    }
  return result;
}

// ---- features -----------------------------------------------------------------------------------

int pixel_sum(Pixels window, const Rect& r) {
  int sum = 0;
  for (int y = r.y; y < r.y + r.height; ++y)
    for (int x = r.x; x < r.x + r.width; ++x) sum += window.row(y)[x];
  return sum;
}

// The sum of a cone that widens upwards from pixel (x - 1, y - 1): of the window's pixels (u, v)
// with v < y and |u - x + 1| <= y - v - 1.
int cone_sum(Pixels window, int x, int y) {
  int sum = 0;
  for (int v = 0; v < std::min(y, window.size.height); ++v)
    for (int u = 0; u < window.size.width; ++u)
      if (std::abs(u - x + 1) <= y - v - 1) sum += window.row(v)[u];
  return sum;
}

int tilted_sum(Pixels window, const Rect& r) {
  return cone_sum(window, r.x, r.y) - cone_sum(window, r.x - r.height, r.y + r.height) -
         cone_sum(window, r.x + r.width, r.y + r.width) +
         cone_sum(window, r.x + r.width - r.height, r.y + r.width + r.height);
}

float haar_value(const HaarFeature& feature, Pixels window, float inverse_deviation) {
  const auto part = [&](int i) {
    const auto& [rect, weight] = feature.parts[i];
    return weight *
           static_cast<float>(feature.tilted ? tilted_sum(window, rect) : pixel_sum(window, rect));
  };
  float value = part(0) + part(1);
  if (feature.parts[2].weight != 0) value += part(2);
  return value * inverse_deviation;
}

unsigned lbp_code(const LbpFeature& feature, Pixels window) {
  const Rect& b = feature.block;
  const auto block = [&](int i, int j) {
    return pixel_sum(window, {b.x + i * b.width, b.y + j * b.height, b.width, b.height});
  };
  constexpr int around[8][2] = {{0, 0}, {1, 0}, {2, 0}, {2, 1}, {2, 2}, {1, 2}, {0, 2}, {0, 1}};
  unsigned code = 0;
  for (const auto& [i, j] : around) code = 2 * code + (block(i, j) >= block(1, 1));
  return code;
}

// 1 / (area * standard deviation) of the window without its outermost pixels; 0 if its variance is
// low.
float inverse_deviation(Pixels window) {
  const auto [w, h] = window.size;
  std::int64_t sum = 0, squares = 0;
  for (int y = 1; y < h - 1; ++y)
    for (int x = 1; x < w - 1; ++x) {
      const int v = window.row(y)[x];
      sum += v;
      squares += v * v;
    }
  const std::int64_t area = (w - 2) * (h - 2), spread = area * squares - sum * sum;
  if (spread <= 0) return 0;
  const auto inverse = static_cast<float>(1.0 / std::sqrt(static_cast<double>(spread)));
  return static_cast<double>(area) * static_cast<double>(inverse) < 0.1 ? inverse : 0;
}

bool goes_left(const Cascade& cascade, const Node& node, Pixels window, float inverse) {
  switch (cascade.kind) {
    case FeatureKind::haar:
      return haar_value(cascade.haar[node.feature], window, inverse) < node.threshold;
    case FeatureKind::lbp: {
      const unsigned code = lbp_code(cascade.lbp[node.feature], window);
      return (node.subset[code / 32] & (1u << (code % 32))) != 0;
    }
  }
  throw std::logic_error("unknown kind of feature");
}

float leaf(const Cascade& cascade, const Tree& tree, Pixels window, float inverse) {
  int index = 0;
  do {
    const Node& node = cascade.nodes[tree.first_node + index];
    index = goes_left(cascade, node, window, inverse) ? node.left : node.right;
  } while (index > 0);
  return cascade.leaves[tree.first_leaf - index];
}

Pixels window_at(const Cascade& cascade, Pixels picture, const Level& level, int column, int row) {
  return picture.sub(
      {column * level.step, row * level.step, cascade.window.width, cascade.window.height});
}

// ---- grouping -----------------------------------------------------------------------------------

bool similar(const Rect& a, const Rect& b) {
  const double delta = 0.2 * (std::min(a.width, b.width) + std::min(a.height, b.height)) * 0.5;
  return std::abs(a.x - b.x) <= delta && std::abs(a.y - b.y) <= delta &&
         std::abs(a.x + a.width - b.x - b.width) <= delta &&
         std::abs(a.y + a.height - b.y - b.height) <= delta;
}

// The class of each window: labels spread between similar windows until nothing changes.
std::vector<std::size_t> classes(std::span<const Face> windows) {
  std::vector<std::size_t> label(windows.size());
  for (std::size_t i = 0; i < label.size(); ++i) label[i] = i;
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 0; i < label.size(); ++i)
      for (std::size_t j = 0; j < label.size(); ++j)
        if (label[j] < label[i] && similar(windows[i].box, windows[j].box)) {
          label[i] = label[j];
          changed = true;
        }
  }
  return label;
}

// The mean of the windows of one class, in f32; 0 neighbours if it has no windows.
Face mean(std::span<const Face> windows, const std::vector<std::size_t>& label, std::size_t which) {
  int x = 0, y = 0, width = 0, height = 0, count = 0;
  double score = -1e300;
  for (std::size_t i = 0; i < windows.size(); ++i) {
    if (label[i] != which) continue;
    x += windows[i].box.x;
    y += windows[i].box.y;
    width += windows[i].box.width;
    height += windows[i].box.height;
    ++count;
    score = std::max(score, windows[i].score);
  }
  const float inverse = 1.0f / static_cast<float>(count);
  const auto rounded = [&](int sum) { return round_even(static_cast<float>(sum) * inverse); };
  if (count == 0) return {{}, 0, 0};
  return {{rounded(x), rounded(y), rounded(width), rounded(height)}, count, score};
}

// Whether grouping drops `face` because it lies inside `by`, within a margin of a fifth of the
// sides of `by`.
bool swallowed(const Face& face, const Face& by) {
  const Rect &i = face.box, &o = by.box;
  const int dx = round_even(o.width * 0.2), dy = round_even(o.height * 0.2);
  const bool inside = i.x >= o.x - dx && i.y >= o.y - dy && i.x + i.width <= o.x + o.width + dx &&
                      i.y + i.height <= o.y + o.height + dy;
  return inside && (by.neighbors > std::max(3, face.neighbors) || face.neighbors < 3);
}

}  // namespace

Image<std::uint8_t> gray(View<const Bgr> frame) {
  Image<std::uint8_t> result(frame.size);
  for (int y = 0; y < frame.size.height; ++y)
    for (int x = 0; x < frame.size.width; ++x) {
      const Bgr& p = frame.row(y)[x];
      result.row(y)[x] =
          static_cast<std::uint8_t>((3735 * p.b + 19235 * p.g + 9798 * p.r + 16384) >> 15);
    }
  return result;
}

Image<std::uint8_t> resized(Pixels gray, Size size) {
  Image<std::uint8_t> result(size);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      const Interpolation column = interpolation(x, gray.size.width, size.width);
      const Interpolation row = interpolation(y, gray.size.height, size.height);
      result.row(y)[x] = static_cast<std::uint8_t>(
          (row.first_weight * along_x(gray.row(row.first), column) +
           row.second_weight * along_x(gray.row(row.second), column) + 32768) >>
          16);
    }
  return result;
}

Image<std::uint32_t> sums(Pixels picture) {
  const RowSums rows(picture, [](std::uint64_t v) { return v; });
  return table(picture.size, [&](int x, int, int v) { return rows.between(v, 0, x + 1); });
}

Image<std::uint32_t> squared_sums(Pixels picture) {
  const RowSums rows(picture, [](std::uint64_t v) { return v * v; });
  return table(picture.size, [&](int x, int, int v) { return rows.between(v, 0, x + 1); });
}

// Element (x, y) sums a cone: in each row v <= y, the pixels at most y - v away from column x.
Image<std::uint32_t> tilted_sums(Pixels picture) {
  const RowSums rows(picture, [](std::uint64_t v) { return v; });
  return table(picture.size,
               [&](int x, int y, int v) { return rows.between(v, x - (y - v), x + (y - v) + 1); });
}

Judgement judge(const Cascade& cascade, Pixels window) {
  float inverse = 0;
  if (traits_of(cascade.kind).squares) {
    inverse = inverse_deviation(window);
    if (inverse == 0) return {-1, 0};
  }
  Judgement result;
  for (const Stage& stage : cascade.stages) {
    result.score = 0;
    for (int i = stage.first_tree; i < stage.first_tree + stage.tree_count; ++i)
      result.score += static_cast<double>(leaf(cascade, cascade.trees[i], window, inverse));
    if (result.score < static_cast<double>(stage.threshold)) return result;
    ++result.stages_passed;
  }
  return result;
}

Image<std::uint32_t> depths(const Cascade& cascade, Pixels picture, const Level& level) {
  Image<std::uint32_t> result(level.grid);
  for (int row = 0; row < level.grid.height; ++row)
    for (int column = 0; column < level.grid.width; ++column)
      result.row(row)[column] = static_cast<std::uint32_t>(std::max(
          0, judge(cascade, window_at(cascade, picture, level, column, row)).stages_passed));
  return result;
}

// The skip rule, stated for a single position: it is visited if the run of positions just before it
// that stage 0 rejects has even length.
std::vector<Window> windows(const Cascade& cascade, Pixels picture, const Level& level, int index,
                            Scan scan) {
  std::vector<Window> found;
  for (int row = 0; row < level.grid.height; ++row) {
    int rejected_before = 0;
    for (int column = 0; column < level.grid.width; ++column) {
      const Judgement j = judge(cascade, window_at(cascade, picture, level, column, row));
      const bool visited = scan == Scan::dense || rejected_before % 2 == 0;
      if (visited && j.stages_passed == std::ssize(cascade.stages))
        found.push_back({index, column * level.step, row * level.step, j.score});
      rejected_before = j.stages_passed == 0 ? rejected_before + 1 : 0;
    }
  }
  return found;
}

std::vector<Face> grouped(std::span<const Face> windows, int min_neighbors) {
  std::vector<Face> kept, faces;
  if (min_neighbors <= 0) {
    faces.assign(windows.begin(), windows.end());
  } else {
    const std::vector<std::size_t> label = classes(windows);
    for (std::size_t i = 0; i < windows.size(); ++i)
      if (const Face face = mean(windows, label, i); face.neighbors > min_neighbors)
        kept.push_back(face);
    for (std::size_t i = 0; i < kept.size(); ++i) {
      bool stays = true;
      for (std::size_t j = 0; j < kept.size(); ++j)
        if (j != i && swallowed(kept[i], kept[j])) stays = false;
      if (stays) faces.push_back(kept[i]);
    }
  }
  return faces;
}

}  // namespace facesat::test::reference
