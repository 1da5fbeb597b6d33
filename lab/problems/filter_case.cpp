// What `facesat bench filter` measures: masks and ids, with and without CUDA.
#include <algorithm>
#include <array>
#include <numeric>
#include <random>

#include "lab/problems/filter.hpp"

namespace facesat::gpu {
namespace {

constexpr std::array filter_registry{
#define FACESAT_ALGORITHM(id) std::string_view(#id),
#include "kernels/filter/registry.def"
#undef FACESAT_ALGORITHM
};

// By their names, because the constants do not exist without CUDA.
bool can_do(std::string_view id, BenchFilter filter) {
  const bool is_box = id == "facesat_box" || id == "integral_box";
  const bool is_separable = id.find("separable") != id.npos;
  const bool is_1d = id.starts_with("lecture_1d");
  switch (filter) {
    case BenchFilter::box:
      return !is_1d;
    case BenchFilter::gaussian:
    case BenchFilter::sobel:
    case BenchFilter::sobel_y:
      return !is_box && !is_1d;
    case BenchFilter::stencil:
      return is_1d || is_box || is_separable;
    case BenchFilter::convolution_rows:
      return is_1d || is_separable;
    case BenchFilter::convolution:
      return !is_box && !is_separable && !is_1d;
    case BenchFilter::variance:
    case BenchFilter::skewness:
    case BenchFilter::adaptive_threshold:
      return false;
  }
  return false;
}

// Of the pixels of a window, without a mask.
bool is_statistic(BenchFilter filter) {
  return filter == BenchFilter::variance || filter == BenchFilter::skewness ||
         filter == BenchFilter::adaptive_threshold;
}

std::vector<std::int32_t> random_weights(std::int64_t count) {
  std::vector<std::int32_t> weights;
  std::minstd_rand random(static_cast<unsigned>(count));
  for (std::int64_t i = 0; i < count; ++i)
    weights.push_back(static_cast<std::int32_t>(1 + random() % 15));
  return weights;
}

}  // namespace

Mask<std::int32_t> FilterCase::mask() const {
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

double FilterCase::bytes() const {
  double bytes = 0;
  visit_result_type(filter, [&]<class Out>(Out) {
    bytes = static_cast<double>(picture.size.area()) * (1 + sizeof(Out));
  });
  return bytes;
}

std::vector<std::string> filter_ids(BenchFilter filter) {
  std::vector<std::string> ids;
  for (const std::string_view id : filter_registry)
    if (can_do(id, filter)) ids.emplace_back(id);
  if (is_statistic(filter)) ids.insert(ids.end(), {"integral_statistics", "direct_statistics"});
  if (filter == BenchFilter::gaussian) ids.emplace_back("three_boxes");
  if (is_measured_of_npp(filter)) ids.emplace_back("peer_npp");
  return ids;
}

}  // namespace facesat::gpu
