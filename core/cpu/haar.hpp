// Haar features and the variance normalisation of a window, compiled for a layout.
#pragma once

#include <bit>

#include "core/cascade.hpp"
#include "core/cpu/compiled.hpp"
#include "core/rules.hpp"

namespace facesat::cpu {

// Four corners of a rectangle: sum = p[0] - p[1] - p[2] + p[3].
struct Corners {
  std::int32_t offset[4];

  static Corners of(const Rect& r, bool tilted, const Layout& layout) {
    Corners all{};
    for (int i = 0; i < 4; ++i) {
      const rules::Corner corner = rules::corners_of(r, tilted)[i];
      all.offset[i] =
          layout.offset(corner.x, corner.y) + static_cast<std::int32_t>(tilted ? layout.tilted : 0);
    }
    return all;
  }

  std::uint32_t sum(const std::uint32_t* window) const {
    return window[offset[0]] - window[offset[1]] - window[offset[2]] + window[offset[3]];
  }
};

// One cache line.
struct alignas(64) HaarTest {
  Corners corners[3];
  float weight[3];  // weight[2] is 0 if there is no third rectangle
  float threshold;

  HaarTest(const Cascade& cascade, const Node& node, const Layout& layout)
      : threshold(node.threshold) {
    const HaarFeature& feature = cascade.haar[node.feature];
    for (int i = 0; i < 3; ++i) {
      corners[i] = Corners::of(feature.parts[i].rect, feature.tilted, layout);
      weight[i] = feature.parts[i].weight;
    }
  }

  static int cost(const Cascade& cascade, const Node& node) {
    return cascade.haar[node.feature].parts[2].weight != 0;
  }
  bool has_third() const { return std::bit_cast<std::uint32_t>(weight[2]) << 1 != 0; }

  bool goes_left(const std::uint32_t* window, float inverse_deviation) const {
    const float value = rules::haar_value(weight, [&](int i) {
      return static_cast<float>(static_cast<std::int32_t>(corners[i].sum(window)));
    });
    return value * inverse_deviation < threshold;
  }
};

struct HaarNormalisation {
  Corners corners;
  double area;

  HaarNormalisation(Size window, const Layout& layout)
      : corners(Corners::of(rules::normalised_rectangle(window), false, layout)),
        area(static_cast<double>(rules::normalised_rectangle(window).width) *
             rules::normalised_rectangle(window).height) {}

  // 0 for a low-variance window. Exact up to the square root, because the products are below 2^53.
  float inverse_deviation(const std::uint32_t* window, std::ptrdiff_t squares) const {
    const double sum = corners.sum(window), squared_sum = corners.sum(window + squares);
    return rules::normalisation(area, area * squared_sum - sum * sum);
  }
};

using CompiledHaar = Compiled<HaarTest, HaarNormalisation>;

}  // namespace facesat::cpu
