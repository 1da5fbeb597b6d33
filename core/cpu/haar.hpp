// Haar features and the variance normalisation of a window, compiled for a layout.
#pragma once

#include <bit>
#include <cmath>

#include "core/cascade.hpp"
#include "core/cpu/compiled.hpp"

namespace facesat::cpu {

// Four corners of a rectangle: sum = p[0] - p[1] - p[2] + p[3].
struct Corners {
  std::int32_t offset[4];

  static Corners upright(const Rect& r, const Layout& layout) {
    return {{layout.offset(r.x, r.y), layout.offset(r.x + r.width, r.y),
             layout.offset(r.x, r.y + r.height), layout.offset(r.x + r.width, r.y + r.height)}};
  }
  static Corners turned(const Rect& r, const Layout& layout) {
    Corners c{{layout.offset(r.x, r.y), layout.offset(r.x - r.height, r.y + r.height),
               layout.offset(r.x + r.width, r.y + r.width),
               layout.offset(r.x + r.width - r.height, r.y + r.width + r.height)}};
    for (std::int32_t& offset : c.offset) offset += static_cast<std::int32_t>(layout.tilted);
    return c;
  }

  std::uint32_t sum(const std::uint32_t* window) const {
    return window[offset[0]] - window[offset[1]] - window[offset[2]] + window[offset[3]];
  }
};

// One cache line.
struct alignas(64) HaarTest {
  Corners corners[3];
  float weight[3];  // the third may be 0: no third rectangle
  float threshold;

  HaarTest(const Cascade& cascade, const Node& node, const Layout& layout)
      : threshold(node.threshold) {
    const HaarFeature& feature = cascade.haar[node.feature];
    for (int i = 0; i < 3; ++i) {
      const Rect& rect = feature.parts[i].rect;
      corners[i] = feature.tilted ? Corners::turned(rect, layout) : Corners::upright(rect, layout);
      weight[i] = feature.parts[i].weight;
    }
  }

  static int cost(const Cascade& cascade, const Node& node) {
    return cascade.haar[node.feature].parts[2].weight != 0;
  }
  bool has_third() const { return std::bit_cast<std::uint32_t>(weight[2]) << 1 != 0; }

  // The order of these f32 operations is part of the result.
  bool goes_left(const std::uint32_t* window, float inverse_deviation) const {
    float value = weight[0] * sum(0, window) + weight[1] * sum(1, window);
    if (has_third()) value += weight[2] * sum(2, window);
    return value * inverse_deviation < threshold;
  }

 private:
  float sum(int i, const std::uint32_t* window) const {
    return static_cast<float>(static_cast<std::int32_t>(corners[i].sum(window)));
  }
};

// Spread of a window's values, from its rectangle without the outermost pixels.
struct HaarNormalisation {
  Corners corners;
  double area;

  HaarNormalisation(Size window, const Layout& layout)
      : corners(Corners::upright({1, 1, window.width - 2, window.height - 2}, layout)),
        area((window.width - 2) * (window.height - 2)) {}

  // 1 / (area * standard deviation), or 0 for a low-variance window. Exact up to the root: the
  // products are below 2^53.
  float inverse_deviation(const std::uint32_t* window, std::ptrdiff_t squares) const {
    const double sum = corners.sum(window), squared_sum = corners.sum(window + squares);
    const double spread = area * squared_sum - sum * sum;
    if (spread <= 0) return 0;
    const auto inverse = static_cast<float>(1.0 / std::sqrt(spread));
    return area * static_cast<double>(inverse) < 0.1 ? inverse : 0;
  }
};

using CompiledHaar = Compiled<HaarTest, HaarNormalisation>;

}  // namespace facesat::cpu
