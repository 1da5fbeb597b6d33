// Compiles the nodes of Haar and LBP cascades.
#include "kernels/cascade/node.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "core/rules.hpp"
#include "kernels/cascade/compiled_cascade.hpp"

namespace facesat::gpu {
namespace {

// ---- Haar features

using rules::Corner;

// The coefficient of every table element that the feature reads.
std::map<Corner, int> merged_corners(const HaarFeature& feature) {
  std::map<Corner, int> corners;
  for (const HaarFeature::Part& part : feature.parts)
    for (int i = 0; i < 4; ++i)
      corners[rules::corners_of(part.rect, feature.tilted)[i]] +=
          rules::corner_signs[i] * static_cast<int>(part.weight);
  std::erase_if(corners, [](const auto& corner) { return corner.second == 0; });
  return corners;
}

// A HaarKind as the kernel sums it up: the coefficients of its corners, in the order of
// HaarNode::corners.
struct Pattern {
  HaarKind kind;
  int weight;
  std::vector<int> coefficients;
};

// The patterns that a feature may match. For edge and line, the weight is the feature's largest
// coefficient.
std::vector<Pattern> patterns_for(const std::map<Corner, int>& corners) {
  int largest = 0;
  for (const auto& [point, coefficient] : corners) largest = std::max(largest, coefficient);
  const int w = largest;
  return {{HaarKind::edge, w, {1, 1, -1, -1, w, -w}},
          {HaarKind::line, w, {1, 1, -1, -1, w, w, -w, -w}},
          {HaarKind::quad, 1, {1, 1, 1, 1, -2, -2, -2, -2, 4}},
          {HaarKind::quad, -1, {-1, -1, -1, -1, 2, 2, 2, 2, -4}}};
}

// The corners in the pattern's order, if the feature has exactly its coefficients.
std::optional<std::vector<Corner>> matched(std::map<Corner, int> corners, const Pattern& pattern) {
  if (corners.size() != pattern.coefficients.size() || pattern.weight > 127) return std::nullopt;
  std::vector<Corner> order;
  for (const int coefficient : pattern.coefficients) {
    const auto found = std::find_if(corners.begin(), corners.end(), [&](const auto& corner) {
      return corner.second == coefficient;
    });
    if (found == corners.end()) return std::nullopt;
    order.push_back(found->first);
    corners.erase(found);
  }
  return order;
}

}  // namespace

bool is_exact(const HaarFeature& feature) {
  constexpr double f32_integers = 1 << 24;
  double most = 0;
  for (const HaarFeature::Part& part : feature.parts) {
    if (part.weight != std::nearbyint(part.weight)) return false;
    const double pixels =
        static_cast<double>(part.rect.width) * part.rect.height * (feature.tilted ? 2 : 1);
    most += std::abs(static_cast<double>(part.weight)) * 255 * pixels;
  }
  return most < f32_integers;
}

std::uint16_t NodeCompiler<HaarNode>::word(int x, int y, bool tilted) const {
  return static_cast<std::uint16_t>(layout_.word(x, y) + (tilted ? layout_.plane_words() : 0));
}

HaarNode NodeCompiler<HaarNode>::operator()(const Node& node) {
  const HaarFeature& feature = cascade_.haar[node.feature];
  if (!is_exact(feature)) return general_node(feature, node.threshold);
  const std::map<Corner, int> corners = merged_corners(feature);
  for (const Pattern& pattern : patterns_for(corners)) {
    const auto order = matched(corners, pattern);
    if (!order) continue;
    HaarNode compiled{};
    compiled.threshold = node.threshold;
    compiled.kind = pattern.kind;
    compiled.weight = static_cast<std::int8_t>(pattern.weight);
    for (std::size_t i = 0; i < order->size(); ++i) {
      const std::uint32_t corner = word((*order)[i].x, (*order)[i].y, feature.tilted);
      if (i < 8)
        compiled.corners[i / 2] |= corner << (i % 2 * 16);
      else
        compiled.last_corner = static_cast<std::uint16_t>(corner);
    }
    return compiled;
  }
  return general_node(feature, node.threshold);
}

HaarNode NodeCompiler<HaarNode>::general_node(const HaarFeature& feature, float threshold) {
  HaarNode compiled{};
  compiled.threshold = threshold;
  compiled.kind = HaarKind::general;
  compiled.corners[0] = static_cast<std::uint32_t>(general_.size());
  GeneralFeature& general = general_.emplace_back();
  for (int p = 0; p < 3; ++p) {
    const auto corners = rules::corners_of(feature.parts[p].rect, feature.tilted);
    for (int i = 0; i < 4; ++i)
      general.corner[p][i] = word(corners[i].x, corners[i].y, feature.tilted);
    general.weight[p] = feature.parts[p].weight;
  }
  return compiled;
}

Runs NodeCompiler<HaarNode>::sort(std::span<HaarNode> stumps, int first) {
  std::stable_sort(stumps.begin(), stumps.end(),
                   [](const HaarNode& a, const HaarNode& b) { return a.kind < b.kind; });
  Runs runs{{first}};
  for (int kind = 0; kind < haar_kinds; ++kind)
    runs.begin[kind + 1] =
        runs.begin[kind] +
        static_cast<int>(std::count_if(stumps.begin(), stumps.end(), [kind](const HaarNode& n) {
          return static_cast<int>(n.kind) == kind;
        }));
  return runs;
}

// Turns rules::normalisation() into an integer comparison: it is monotonic, so there is a smallest
// spread that it accepts.
void NodeCompiler<HaarNode>::finish(CompiledCascade& compiled) {
  compiled.general = std::move(general_);
  const Rect inner = rules::normalised_rectangle(cascade_.window);
  const std::int64_t area = static_cast<std::int64_t>(inner.width) * inner.height;
  std::int64_t too_low = 0, enough = std::int64_t{1} << 62;
  while (enough - too_low > 1) {
    const std::int64_t middle = too_low + (enough - too_low) / 2;
    (rules::normalisation(static_cast<double>(area), middle) != 0 ? enough : too_low) = middle;
  }
  compiled.normalised_area = area;
  compiled.min_spread = enough;
  for (const int i : {0, 1, 2, 3})
    compiled.normalised_corners[i] = static_cast<std::uint32_t>(
        layout_.word(inner.x + i % 2 * inner.width, inner.y + i / 2 * inner.height));
}

// ---- LBP features

// The 4 x 4 corners of a feature's 3 x 3 blocks, two offsets in each word, and the subset of codes
// that go left.
LbpNode NodeCompiler<LbpNode>::operator()(const Node& node) const {
  const Rect& block = cascade_.lbp[node.feature].block;
  LbpNode compiled{};
  for (int j = 0; j < 4; ++j)
    for (int i = 0; i < 4; ++i) {
      const int word = layout_.word(block.x + i * block.width, block.y + j * block.height);
      compiled.corners[j][i / 2] |= static_cast<std::uint32_t>(word) << (i % 2 * 16);
    }
  std::copy(node.subset.begin(), node.subset.end(), compiled.subset);
  return compiled;
}

// All LBP stumps are of one kind, so they keep their order and are one run.
Runs NodeCompiler<LbpNode>::sort(std::span<LbpNode> stumps, int first) {
  return {{first, first + static_cast<int>(stumps.size())}};
}

}  // namespace facesat::gpu
