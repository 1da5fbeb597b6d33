// The integral images of all samples, ordered so that a feature of many samples is one vector loop.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "boosting/feature_pool.hpp"
#include "boosting/samples.hpp"
#include "core/image.hpp"

namespace facesat::training {

class SampleTables {
 public:
  // For features of `pool`; samples are numbered through all parts. Throws MemoryError.
  SampleTables(const FeaturePool& pool, std::span<const Samples* const> parts);

  std::size_t count() const { return count_; }
  // count() rounded up: the number of elements that the functions below write.
  std::size_t padded() const { return static_cast<std::size_t>(tables_.size().width); }

  // The value of a feature for every sample, normalised by its variance: exactly the values that
  // the detector compares with a node's threshold. (It rejects windows of low variance before;
  // here, they have values, too. A sample of one grey level has 0.) For any number of threads at
  // once.
  void values(const HaarFeature& feature, float* values) const;
  void codes(const LbpFeature& feature, std::uint8_t* codes) const;

  // What these are computed from: row(x, y, tilted) of the tables has the element of that corner,
  // 0 <= x <= width, for every sample.
  View<const std::int32_t> tables() const { return tables_.view(); }
  int row(int x, int y, bool tilted) const {
    return (tilted ? (window_.width + 1) * (window_.height + 1) : 0) + y * (window_.width + 1) + x;
  }
  std::span<const float> inverse_deviations() const { return inverse_deviations_; }

 private:
  struct Scratch;
  void add(View<const std::uint8_t> picture, std::size_t sample, Scratch& scratch);

  Size window_;
  bool squares_, tilted_;
  std::size_t count_ = 0;
  // Rows of the tilted integral image follow those of the upright one.
  Image<std::int32_t> tables_;
  std::vector<float> inverse_deviations_;
};

}  // namespace facesat::training
