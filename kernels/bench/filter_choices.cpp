// What `facesat bench filter` measures: masks and ids, with and without CUDA.
#include <random>

#include "kernels/bench/filter_bench.hpp"

namespace facesat::gpu {
namespace {

constexpr std::array registry{
#define FACESAT_FILTER(id) std::string_view(#id),
#include "kernels/filter/registry.def"
#undef FACESAT_FILTER
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
      return !is_box && !is_1d;
    case BenchFilter::stencil:
      return is_1d || is_box || is_separable;
    case BenchFilter::convolution:
      return !is_box && !is_separable && !is_1d;
    case BenchFilter::variance:
    case BenchFilter::adaptive_threshold:
      return false;
  }
  return false;
}

}  // namespace

Mask<std::int32_t> bench_mask(BenchFilter filter, int radius) {
  switch (filter) {
    case BenchFilter::gaussian:
      return gaussian_mask<std::int32_t>(radius);
    case BenchFilter::sobel:
      return sobel_mask<std::int32_t>(radius, true);
    case BenchFilter::stencil:
      return box_mask<std::int32_t>({radius, 0});
    case BenchFilter::convolution: {
      // Weights that are no product; their sum is the divisor.
      Mask<std::int32_t> mask{{radius, radius}, {}, {}, {}, 0};
      std::minstd_rand random(static_cast<unsigned>(radius));
      for (std::int64_t i = 0; i < mask.radius.area(); ++i) {
        mask.weights.push_back(static_cast<std::int32_t>(1 + random() % 15));
        mask.divisor += mask.weights.back();
      }
      return mask;
    }
    case BenchFilter::box:
    case BenchFilter::variance:
    case BenchFilter::adaptive_threshold:
      break;
  }
  return box_mask<std::int32_t>({radius, radius});
}

std::vector<std::string> filter_bench_ids(BenchFilter filter) {
  std::vector<std::string> ids;
  for (const std::string_view id : registry)
    if (can_do(id, filter)) ids.emplace_back(id);
  if (filter == BenchFilter::variance || filter == BenchFilter::adaptive_threshold)
    ids.insert(ids.end(), {"integral_statistics", "direct_statistics"});
  if (filter == BenchFilter::gaussian) ids.emplace_back("three_boxes");
  if (filter != BenchFilter::stencil && filter != BenchFilter::variance)
    ids.emplace_back("peer_npp");
  return ids;
}

}  // namespace facesat::gpu
