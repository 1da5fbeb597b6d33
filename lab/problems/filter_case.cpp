// What `facesat bench filter` measures: masks and ids, with and without CUDA.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <random>

#include "core/memory.hpp"
#include "lab/problems/filter.hpp"

namespace facesat::gpu {
namespace {

constexpr std::array filter_registry{
#define FACESAT_ALGORITHM(id) std::string_view(#id),
#include "kernels/filter/registry.def"
#undef FACESAT_ALGORITHM
};

MaskKind mask_kind_of(BenchFilter filter) {
  if (filter == BenchFilter::box || filter == BenchFilter::stencil) return MaskKind::ones;
  return filter == BenchFilter::convolution ? MaskKind::any : MaskKind::separable;
}

// Along rows, algorithms for masks of any weights are left out, unless they are made for rows.
bool is_for(const FilterAlgorithm& algorithm, BenchFilter filter) {
  if (is_statistic(filter) || algorithm.takes > mask_kind_of(filter)) return false;
  return is_along_rows(filter) ? algorithm.is_1d || algorithm.takes != MaskKind::any
                               : !algorithm.is_1d;
}

std::vector<std::int32_t> random_weights(std::int64_t count) {
  std::vector<std::int32_t> weights;
  std::minstd_rand random(static_cast<unsigned>(count));
  for (std::int64_t i = 0; i < count; ++i)
    weights.push_back(static_cast<std::int32_t>(1 + random() % 15));
  return weights;
}

Mask<std::int32_t> mask_of(BenchFilter filter, int radius) {
  switch (filter) {
    case BenchFilter::gaussian:
      return gaussian_mask<std::int32_t>(radius);
    case BenchFilter::sobel:
    case BenchFilter::sobel_y:
      return sobel_mask<std::int32_t>(radius, filter == BenchFilter::sobel);
    case BenchFilter::stencil:
      return box_mask<std::int32_t>({radius, 0});
    case BenchFilter::convolution_rows:
      return separable_mask<std::int32_t>(random_weights(2 * radius + 1), {1}, 1);
    case BenchFilter::convolution: {
      // Weights that are no product; their sum is the divisor.
      Mask<std::int32_t> mask{{radius, radius}, {}, {}, {}, 0};
      mask.weights = random_weights(mask.radius.area());
      mask.divisor = std::accumulate(mask.weights.begin(), mask.weights.end(), 0);
      return mask;
    }
    case BenchFilter::box:
    case BenchFilter::variance:
    case BenchFilter::skewness:
    case BenchFilter::adaptive_threshold:
      break;
  }
  return box_mask<std::int32_t>({radius, radius});
}

// Of real numbers, whose sums are at most 2^24 then.
int greatest_level(const Mask<float>& mask) {
  double magnitude = 0;
  for (const float weight : mask.weights) magnitude += std::abs(weight);
  return static_cast<int>(std::min(255.0, 0x1p24 / magnitude));
}

}  // namespace

template <class W>
Mask<W> FilterCase::mask() const {
  const Mask<std::int32_t> whole = mask_of(filter, radius);
  const auto weights = [](const std::vector<std::int32_t>& from) {
    return std::vector<W>(from.begin(), from.end());
  };
  return {whole.radius, weights(whole.weights), weights(whole.row), weights(whole.column),
          static_cast<W>(whole.divisor)};
}
template Mask<std::int32_t> FilterCase::mask() const;
template Mask<float> FilterCase::mask() const;

template <class In>
Image<In> FilterCase::typed_picture() const {
  require_memory(static_cast<std::uint64_t>(picture.size.area()) * sizeof(In), "The picture");
  Image<In> typed(picture.size);
  const int greatest = std::is_same_v<In, float> ? greatest_level(mask<float>()) : 255;
  for (int y = 0; y < picture.size.height; ++y)
    std::transform(picture.row(y), picture.row(y) + picture.size.width, typed.row(y),
                   [&](std::uint8_t level) { return static_cast<In>(level * greatest / 255); });
  return typed;
}
template Image<std::uint8_t> FilterCase::typed_picture() const;
template Image<std::int32_t> FilterCase::typed_picture() const;
template Image<float> FilterCase::typed_picture() const;

double FilterCase::bytes() const {
  double bytes = 0;
  visit_types(*this, [&]<class In, class Out>(In, Out) {
    bytes = static_cast<double>(picture.size.area()) * (sizeof(In) + sizeof(Out));
  });
  return bytes;
}

std::vector<std::string> filter_ids(BenchFilter filter, PictureType type) {
  std::vector<std::string> ids;
  for (const std::string_view id : filter_registry) {
    const FilterAlgorithm* const algorithm = find_filter(id);
    if (algorithm ? is_for(*algorithm, filter) : !is_statistic(filter)) ids.emplace_back(id);
  }
  if (is_statistic(filter)) ids.insert(ids.end(), {"integral_statistics", "direct_statistics"});
  if (filter == BenchFilter::gaussian && type == PictureType::u8) ids.emplace_back("three_boxes");
  if (is_measured_of_npp(filter, type)) ids.emplace_back("peer_npp");
  return ids;
}

}  // namespace facesat::gpu
