// All features of a window that training chooses from.
#pragma once

#include <string_view>
#include <vector>

#include "core/cascade.hpp"

namespace facesat::training {

constexpr FeatureKind kind_of(FeatureSet set) {
  return set == FeatureSet::lbp ? FeatureKind::lbp : FeatureKind::haar;
}

// In the order in which opencv_traincascade numbers them, by x, y, width, height and form: of
// features that are equally good, training takes the first. One of the two is empty.
struct FeaturePool {
  FeatureKind kind = FeatureKind::haar;
  Size window;
  std::vector<HaarFeature> haar{};
  std::vector<LbpFeature> lbp{};

  std::size_t count() const { return kind == FeatureKind::haar ? haar.size() : lbp.size(); }
};

// Throws ArgumentError for windows that have tens of millions of features.
FeaturePool make_pool(FeatureSet set, Size window);

}  // namespace facesat::training
