#include "app/train/features_picture.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace facesat::app {
namespace {

constexpr int least_side = 160;  // of a cell, in pixels: the scale is a whole number
constexpr int most_columns = 8;  // of cells

std::vector<double> mean_of(const training::Samples& samples) {
  std::vector<double> mean(samples.window.area());
  for (std::size_t i = 0; i < samples.pixels.size(); ++i)
    mean[i % mean.size()] += samples.pixels[i] / static_cast<double>(samples.count());
  // Means have little contrast: they are stretched to all levels.
  const auto [least, most] = std::ranges::minmax(mean);
  for (double& level : mean) level = most > least ? (level - least) * 255 / (most - least) : 128;
  return mean;
}

// Does the rectangle of a feature cover this place, in pixels of the window? A tilted one begins at
// its upper corner; its width leads down to the right, its height down to the left.
bool covers(const Rect& rect, bool tilted, double x, double y) {
  double across = x - rect.x, down = y - rect.y;
  if (tilted) {
    const double sum = across + down, difference = down - across;
    across = sum / 2;
    down = difference / 2;
  }
  return across >= 0 && across < rect.width && down >= 0 && down < rect.height;
}

// -1, 0 or 1: how a pixel at this place counts.
int sign_at(const HaarFeature& feature, double x, double y) {
  float weight = 0;
  for (const HaarFeature::Part& part : feature.parts)
    if (part.weight != 0 && covers(part.rect, feature.tilted, x, y)) weight += part.weight;
  return (weight > 0) - (weight < 0);
}

// The block in the centre counts as 1, and lines between blocks as -1.
int sign_at(const LbpFeature& feature, double x, double y, double line) {
  const Rect& block = feature.block;
  const double across = (x - block.x) / block.width, down = (y - block.y) / block.height;
  if (across < 0 || across >= 3 || down < 0 || down >= 3) return 0;
  const auto is_near_line = [line](double place, int size) {
    return std::abs(place - std::round(place)) * size < line;
  };
  if (is_near_line(across, block.width) || is_near_line(down, block.height)) return -1;
  return across >= 1 && across < 2 && down >= 1 && down < 2;
}

int sign_at(const Cascade& cascade, const Node& node, double x, double y, double line) {
  switch (cascade.kind) {
    case FeatureKind::haar:
      return sign_at(cascade.haar[node.feature], x, y);
    case FeatureKind::lbp:
      return sign_at(cascade.lbp[node.feature], x, y, line);
  }
  return 0;
}

// Draws the mean, and the feature of a node on it.
void draw(const Cascade& cascade, const Node& node, const std::vector<double>& mean, int scale,
          View<Bgr> cell) {
  for (int y = 0; y < cell.size.height; ++y)
    for (int x = 0; x < cell.size.width; ++x) {
      const double level = mean[y / scale * cascade.window.width + x / scale];
      const int sign = sign_at(cascade, node, (x + 0.5) / scale, (y + 0.5) / scale, 1.0 / scale);
      const double shade = sign == 0 ? level : level / 3 + (sign > 0 ? 170 : 0);
      const auto gray = static_cast<std::uint8_t>(shade);
      cell.row(y)[x] = {gray, gray, gray};
    }
}

}  // namespace

Image<Bgr> features_picture(const Cascade& cascade, const training::Samples& positives) {
  const Size window = cascade.window;
  const int scale = (least_side + window.width - 1) / window.width;
  const Size cell{(window.width + 1) * scale, (window.height + 1) * scale};
  const Stage& stage = cascade.stages.front();
  const int first = cascade.trees[stage.first_tree].first_node;
  int count = 0;
  for (int t = stage.first_tree; t < stage.first_tree + stage.tree_count; ++t)
    count += cascade.trees[t].node_count;
  const int columns = std::min(count, most_columns), rows = (count + columns - 1) / columns;
  const std::vector<double> mean = mean_of(positives);
  Image<Bgr> sheet({columns * cell.width + scale, rows * cell.height + scale});
  for (int y = 0; y < sheet.size().height; ++y)
    std::fill_n(sheet.row(y), sheet.size().width, Bgr{0, 0, 0});
  for (int i = 0; i < count; ++i)
    draw(cascade, cascade.nodes[first + i], mean, scale,
         sheet.view().sub({i % columns * cell.width + scale, i / columns * cell.height + scale,
                           window.width * scale, window.height * scale}));
  return sheet;
}

}  // namespace facesat::app
