#include <cmath>

#include "core/cpu/scan.hpp"
#include "core/cpu/trees.hpp"

namespace facesat::cpu {
namespace {

// Four corners of a rectangle: sum = p[0] - p[1] - p[2] + p[3].
struct Corners {
  std::int32_t offset[4];

  std::uint32_t sum(const std::uint32_t* base) const {
    return base[offset[0]] - base[offset[1]] - base[offset[2]] + base[offset[3]];
  }
};

Corners upright(const Rect& r, std::ptrdiff_t pitch) {
  return {{corner_offset(r.x, r.y, pitch), corner_offset(r.x + r.width, r.y, pitch),
           corner_offset(r.x, r.y + r.height, pitch),
           corner_offset(r.x + r.width, r.y + r.height, pitch)}};
}

Corners turned(const Rect& r, std::ptrdiff_t pitch) {
  return {{corner_offset(r.x, r.y, pitch), corner_offset(r.x - r.height, r.y + r.height, pitch),
           corner_offset(r.x + r.width, r.y + r.width, pitch),
           corner_offset(r.x + r.width - r.height, r.y + r.width + r.height, pitch)}};
}

class HaarDecision {
 public:
  HaarDecision(const Cascade& cascade, const Node& node, std::ptrdiff_t pitch)
      : threshold_(node.threshold), tilted_(cascade.haar[node.feature].tilted) {
    const HaarFeature& feature = cascade.haar[node.feature];
    for (int i = 0; i < 3; ++i) {
      corners_[i] =
          tilted_ ? turned(feature.parts[i].rect, pitch) : upright(feature.parts[i].rect, pitch);
      weight_[i] = feature.parts[i].weight;
    }
  }

  // The order of these f32 operations is part of the result.
  bool goes_left(const Corner& at, float inverse_deviation) const {
    const std::uint32_t* base = tilted_ ? at.tilted : at.sum;
    float value = weight_[0] * sum(0, base) + weight_[1] * sum(1, base);
    if (weight_[2] != 0) value += weight_[2] * sum(2, base);
    return value * inverse_deviation < threshold_;
  }

 private:
  float sum(int i, const std::uint32_t* base) const {
    return static_cast<float>(static_cast<std::int32_t>(corners_[i].sum(base)));
  }

  Corners corners_[3];
  float weight_[3];
  float threshold_;
  bool tilted_;
};

// Spread of a window's values, from its rectangle without the outermost pixels.
class Contrast {
 public:
  Contrast(Size window, std::ptrdiff_t pitch)
      : corners_(upright({1, 1, window.width - 2, window.height - 2}, pitch)),
        area_((window.width - 2) * (window.height - 2)) {}

  // 1 / (area * standard deviation), or 0 for a flat window.
  float inverse_deviation(const Corner& at) const {
    const auto sum = static_cast<std::int64_t>(corners_.sum(at.sum));
    const auto squares = static_cast<std::int64_t>(corners_.sum(at.squared_sum));
    const std::int64_t spread = area_ * squares - sum * sum;
    if (spread <= 0) return 0;
    const auto inverse = static_cast<float>(1.0 / std::sqrt(static_cast<double>(spread)));
    return static_cast<double>(area_) * static_cast<double>(inverse) < 0.1 ? inverse : 0;
  }

 private:
  Corners corners_;
  std::int64_t area_;
};

class CompiledHaar {
 public:
  CompiledHaar(const Cascade& cascade, std::ptrdiff_t pitch)
      : window_(cascade.window), contrast_(cascade.window, pitch), trees_(cascade, pitch) {}

  Size window() const { return window_; }
  int stage_count() const { return trees_.stage_count(); }

  Verdict run(const Corner& at) const {
    const float inverse_deviation = contrast_.inverse_deviation(at);
    if (inverse_deviation == 0) return {Verdict::flat, 0};
    return trees_.run(at, inverse_deviation);
  }

 private:
  Size window_;
  Contrast contrast_;
  Trees<HaarDecision> trees_;
};

}  // namespace

std::unique_ptr<Evaluator> make_haar_evaluator(const Cascade& cascade, std::ptrdiff_t pitch) {
  return std::make_unique<ScanningEvaluator<CompiledHaar>>(cascade, pitch);
}

}  // namespace facesat::cpu
