#include "kernels/cascade/pixel_weights.hpp"

#include <cstdlib>
#include <stdexcept>

#include "core/rules.hpp"
#include "kernels/cascade/haar_node.hpp"

namespace facesat::gpu {
namespace {

using rules::Corner;

// Is pixel (x, y) inside a tilted rectangle, whose corners these are? In the tilted integral image,
// a sum is over the cone above its corner: see cpu::tilted_integral().
bool is_inside_tilted(const std::array<Corner, 4>& corners, int x, int y) {
  int count = 0;
  for (int i = 0; i < 4; ++i)
    if (std::abs(x + 1 - corners[i].x) < corners[i].y - y) count += rules::corner_signs[i];
  return count == 1;
}

}  // namespace

std::optional<std::vector<std::int8_t>> pixel_weights(const HaarFeature& feature, Size window) {
  if (!is_exact(feature)) return std::nullopt;
  std::vector<int> weights(window.area());
  for (const HaarFeature::Part& part : feature.parts) {
    const auto weight = static_cast<int>(part.weight);
    if (weight == 0) continue;
    const Rect& r = part.rect;
    const auto corners = rules::corners_of(r, feature.tilted);
    // The rows and columns that the rectangle reaches.
    const int left = feature.tilted ? r.x - r.height : r.x, top = r.y;
    const int right = r.x + r.width, bottom = r.y + r.height + (feature.tilted ? r.width : 0);
    if (left < 0 || top < 0 || right > window.width || bottom > window.height)
      throw std::logic_error("a feature reaches outside its window");
    for (int y = top; y < bottom; ++y)
      for (int x = left; x < right; ++x)
        if (!feature.tilted || is_inside_tilted(corners, x, y))
          weights[static_cast<std::size_t>(y) * window.width + x] += weight;
  }
  std::vector<std::int8_t> bytes;
  for (const int weight : weights) {
    if (weight < INT8_MIN || weight > INT8_MAX) return std::nullopt;
    bytes.push_back(static_cast<std::int8_t>(weight));
  }
  return bytes;
}

}  // namespace facesat::gpu
