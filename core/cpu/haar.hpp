// Haar features and the variance normalisation of a window, compiled for one layout of the integral
// images in memory (Layout in core/cpu/tile.hpp).
#pragma once

#include <bit>

#include "core/cascade.hpp"
#include "core/cpu/compiled.hpp"
#include "core/rules.hpp"

namespace facesat::cpu {

// The table elements at a rectangle's four corners, as offsets from the window's first element.
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

// The node test of a Haar cascade, in one cache line: the feature and its threshold.
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

  // 1 if the feature has a third rectangle, which takes time; otherwise 0.
  static int cost(const Cascade& cascade, const Node& node) {
    return cascade.haar[node.feature].parts[2].weight != 0;
  }
  // Whether weight[2] is not 0; the shift drops the sign, so that -0 counts as 0.
  bool has_third() const { return std::bit_cast<std::uint32_t>(weight[2]) << 1 != 0; }

  // The feature's value after normalisation.
  float value(const std::uint32_t* window, float inverse_deviation) const {
    const float value = rules::haar_value(weight, [&](int i) {
      return static_cast<float>(static_cast<std::int32_t>(corners[i].sum(window)));
    });
    return value * inverse_deviation;
  }
  bool goes_left(const std::uint32_t* window, float inverse_deviation) const {
    return value(window, inverse_deviation) < threshold;
  }
};

struct HaarNormalisation {
  Corners corners;  // of the rectangle whose variance is used
  double area;      // of the same rectangle, in pixels

  HaarNormalisation(Size window, const Layout& layout)
      : corners(Corners::of(rules::normalised_rectangle(window), false, layout)),
        area(static_cast<double>(rules::normalised_rectangle(window).width) *
             rules::normalised_rectangle(window).height) {}

  // 0 for a low-variance window. `squares` is the distance from an element of the integral image to
  // that of the squared one. All steps before the square root are exact, because the products are
  // below 2^53.
  float inverse_deviation(const std::uint32_t* window, std::ptrdiff_t squares) const {
    const double sum = corners.sum(window), squared_sum = corners.sum(window + squares);
    return rules::normalisation(area, area * squared_sum - sum * sum);
  }
};

using CompiledHaar = Compiled<HaarTest, HaarNormalisation>;

}  // namespace facesat::cpu
