// Bins of features' values, and bounds of their best splits.
//
// Idea: a histogram of the samples' weights over the bins of a feature's values bounds what its
//   best split can reach, as on the CPU (boosting/cpu_screen.cpp). A block makes the histograms of
//   32 features at once, in shared memory: a bin is 32 counters side by side, one per feature, so
//   that counter and bank belong to the feature. Lanes of a warp add to the counters of 32
//   different features, so that no two use the same bank, whatever the bins are. What the best of
//   all features reaches between two bins then rules out nearly all others, and a second kernel
//   lists those that are left. A third one looks at these again, of Haar features, with more bins.
// Shapes: bins: a thread per sample and group of 32 features; its 32 bins are one sector. Bounds: a
//   block of 16 warps per group. A lane reads four bins of one sample in one word, and eight
//   lanes share a sample; lanes of the second, third and fourth sample begin with another of their
//   four features, which is what makes all 32 different. Then, for Haar features, each warp has a
//   sixteenth of the bins, and each lane a feature; for LBP features, each warp has two features,
//   and sorts the codes of each by their mean responses in registers. Finer bounds: a block per
//   candidate.
// Reads and writes: bins: 8 to 16 table elements per feature and sample, from L2; a byte is
//   written. Bounds: that byte, and an atomic addition in shared memory (three without signs); 8
//   bytes of the addends per sample, four times per group. The samples of a node, or those that are
//   not trimmed, are a list: a sector is read only for these.
// Limits: 162,336 features and 10,000 samples are 1.62 GB of bins, 0.39 ms at 4.2 TB/s. The bounds
//   take 1.15 ms (NVIDIA H200, 2026-11-28, ncu of facesat train --window 24x24): 81 % of the
//   multiprocessors' issue slots. With 8 warps per block, of which three fit because of the
//   counters, they took 1.7 to 1.9 ms: latency. Finer bounds take 0.04 to 0.05 ms, LBP features,
//   8,464 with 20,000 samples, 0.20 to 0.24 ms.
// Source: the project's own; see boosting/cpu_screen.cpp for that of the bound.
#include <bit>
#include <cmath>
#include <type_traits>
#include <utility>

#include "core/rules.hpp"
#include "kernels/boosting/feature_bins.hpp"
#include "kernels/device/platform.hpp"
#include "kernels/device/warp.cuh"

namespace facesat::gpu {
namespace {

using training::SplitCriterion;

// ---- values

__device__ __forceinline__ std::int32_t corner(const SampleColumns& columns, unsigned row,
                                               int sample) {
  return columns.tables[static_cast<std::ptrdiff_t>(row) * columns.pitch + sample];
}

// The operations of SampleTables::values(), in their order.
__device__ __forceinline__ float haar_value(const SampleColumns& columns, const FeatureRows& f,
                                            int sample) {
  const auto rectangle = [&](int part) {
    const std::uint16_t* const row = f.row + 4 * part;
    return static_cast<float>(corner(columns, row[0], sample) - corner(columns, row[1], sample) -
                              corner(columns, row[2], sample) + corner(columns, row[3], sample));
  };
  float value = f.weight[0] * rectangle(0) + f.weight[1] * rectangle(1);
  if (f.weight[2] != 0) value = value + f.weight[2] * rectangle(2);
  return value * columns.inverse_deviations[sample];
}

__device__ __forceinline__ unsigned lbp_code(const SampleColumns& columns, const FeatureRows& f,
                                             int sample) {
  const auto block = [&](int x, int y) {
    const std::uint16_t* const row = f.row + 4 * y + x;
    return corner(columns, row[0], sample) - corner(columns, row[1], sample) -
           corner(columns, row[4], sample) + corner(columns, row[5], sample);
  };
  const std::int32_t centre = block(1, 1);
  const auto bit = [&]<int n>(std::integral_constant<int, n>) {
    constexpr rules::Corner at = rules::lbp_blocks[n];
    return block(at.x, at.y) >= centre ? 128u >> n : 0u;
  };
  return [&]<int... n>(std::integer_sequence<int, n...>) {
    return (bit(std::integral_constant<int, n>()) | ...);
  }
  (std::make_integer_sequence<int, 8>());
}

__device__ __forceinline__ unsigned bin_of(float value, const QuantiserScale& quantiser,
                                           float last) {
  const float place = (value - quantiser.low) * quantiser.scale;
  return static_cast<unsigned>(min(max(place, 0.0f), last));
}

__global__ void value_sums_kernel(SampleColumns columns, const FeatureRows* features, int count,
                                  int samples, int step, ValueSums* sums) {
  const int feature = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (feature >= count) return;
  const FeatureRows rows = features[feature];
  double sum = 0, squares = 0;
  for (int sample = 0; sample < samples; sample += step) {
    const double value = haar_value(columns, rows, sample);
    sum += value;
    squares += value * value;
  }
  sums[feature] = {sum, squares};
}

template <FeatureKind kind>
__global__ void bins_kernel(SampleColumns columns, const FeatureRows* features,
                            const QuantiserScale* quantisers, float last, int samples, uint4* out) {
  const int sample = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (sample >= samples) return;
  const std::size_t group = blockIdx.y;
  const int first = static_cast<int>(group) * features_of_group;
  const auto four_bins = [&](int quarter) {
    unsigned bins = 0;
    for (int k = 0; k < 4; ++k) {
      const int feature = first + 4 * quarter + k;
      unsigned bin;
      if constexpr (kind == FeatureKind::haar)
        bin = bin_of(haar_value(columns, features[feature], sample), quantisers[feature], last);
      else
        bin = lbp_code(columns, features[feature], sample);
      bins |= bin << 8 * k;
    }
    return bins;
  };
  uint4* const sector =
      out + 2 * (group * static_cast<std::size_t>(samples) + static_cast<std::size_t>(sample));
  for (int half = 0; half < 2; ++half)
    sector[half] = make_uint4(four_bins(4 * half), four_bins(4 * half + 1), four_bins(4 * half + 2),
                              four_bins(4 * half + 3));
}

// ---- histograms

constexpr int warps = 16, lanes = 32, bound_threads = warps * lanes;

__device__ __forceinline__ int lane() {
  return static_cast<int>(threadIdx.x) % lanes;
}
__device__ __forceinline__ int warp() {
  return static_cast<int>(threadIdx.x) / lanes;
}

// Counters of some features, side by side in each bin: of weights and, without signs, of targets
// and squares, for each class.
template <int features>
class Histograms {
 public:
  enum Quantity { weights, targets, squares };

  __device__ explicit Histograms(int bins) : bins_(bins) {}
  __device__ void clear(bool has_signs) {
    const int all = (has_signs ? 2 : 6) * bins_ * features;
    for (int i = static_cast<int>(threadIdx.x); i < all; i += static_cast<int>(blockDim.x))
      counters_[i] = 0;
  }
  __device__ int first(int quantity, int is_negative) const {
    return (2 * quantity + is_negative) * bins_ * features;
  }
  __device__ void add(int counter, std::int32_t value) { atomic_add(counters_, counter, value); }
  __device__ std::int32_t at(int quantity, int is_negative, int bin, int feature) const {
    return counters_[first(quantity, is_negative) + bin * features + feature];
  }

 private:
  DynamicShared<std::int32_t> counters_;
  int bins_;
};
using GroupHistograms = Histograms<features_of_group>;

// Of four samples that a lane has: their numbers or addends.
template <class T>
__device__ __forceinline__ uint4 four(const T* from, int i) {
  return *reinterpret_cast<const uint4*>(from + i);
}
__device__ __forceinline__ unsigned element(const uint4& four, int i) {
  return i == 0 ? four.x : i == 1 ? four.y : i == 2 ? four.z : four.w;
}

// Adds 16 samples of one class, from number `first` of the addends on: each quarter of the warp has
// four.
template <bool has_signs>
__device__ __forceinline__ void add_sixteen(GroupHistograms& histograms, const unsigned* bins,
                                            const DeviceAddends& addends, int first,
                                            int is_negative) {
  const int quarter = lane() / 8, word = lane() % 8;
  const int own = first + 4 * quarter;
  const uint4 samples = four(addends.samples, own), w = four(addends.weights, own);
  uint4 t{}, s{};
  if constexpr (!has_signs) {
    t = four(addends.targets, own);
    s = four(addends.squares, own);
  }
  unsigned four_bins[4];
  FACESAT_UNROLL
  for (int i = 0; i < 4; ++i)
    four_bins[i] = bins[static_cast<std::size_t>(element(samples, i)) * 8 + word];
  const int of_weights = histograms.first(GroupHistograms::weights, is_negative),
            of_targets = histograms.first(GroupHistograms::targets, is_negative),
            of_squares = histograms.first(GroupHistograms::squares, is_negative);
  FACESAT_UNROLL
  for (int i = 0; i < 4; ++i) {
    const unsigned turned = __funnelshift_r(four_bins[i], four_bins[i], 8u * quarter);
    FACESAT_UNROLL
    for (int k = 0; k < 4; ++k) {
      const int feature = 4 * word + (k + quarter) % 4;
      const int counter = static_cast<int>(turned >> 8 * k & 255) * features_of_group + feature;
      histograms.add(of_weights + counter, static_cast<std::int32_t>(element(w, i)));
      if constexpr (!has_signs) {
        histograms.add(of_targets + counter, static_cast<std::int32_t>(element(t, i)));
        histograms.add(of_squares + counter, static_cast<std::int32_t>(element(s, i)));
      }
    }
  }
}

// ---- bounds, by the formulas of boosting/cpu_screen.cpp, which explains them

__device__ __forceinline__ float merit(float t, float w, float most) {
  return min(t * t / max(w, 1e-30f), most * fabsf(t));
}

struct ClassSums {
  float w, t, s;

  __device__ float spread() const {
    return 0.5f * sqrtf(max(w * s - t * t, 0.0f)) + 1e-3f * fabsf(t);
  }
};

template <bool has_signs, class Histograms>
__device__ __forceinline__ ClassSums class_sums(const Histograms& histograms,
                                                const training::Addends::Units& units,
                                                int is_negative, int bin, int feature) {
  const auto load = [&](int quantity, float unit) {
    return static_cast<float>(histograms.at(quantity, is_negative, bin, feature)) * unit;
  };
  const float w = load(GroupHistograms::weights, units.weight);
  if constexpr (has_signs) return {w, is_negative ? -w : w, w};
  return {w, load(GroupHistograms::targets, units.target),
          load(GroupHistograms::squares, units.square)};
}

// Of both classes in a bin, or of the bins before one.
struct BinSums {
  std::int32_t w, t;
};
using SumsBefore = BinSums;

template <bool has_signs, class Histograms>
__device__ __forceinline__ BinSums bin_sums(const Histograms& histograms, int bin, int feature) {
  const std::int32_t p = histograms.at(GroupHistograms::weights, 0, bin, feature),
                     q = histograms.at(GroupHistograms::weights, 1, bin, feature);
  if constexpr (has_signs) return {p + q, p - q};
  return {p + q, histograms.at(GroupHistograms::targets, 0, bin, feature) +
                     histograms.at(GroupHistograms::targets, 1, bin, feature)};
}

// What splits of a feature can reach at most, and what one of them reaches; both but for rounding.
struct Estimate {
  float bound = 0, reached = 0;
};

// Of the splits within a bin, and of the one before it.
template <bool has_signs>
__device__ __forceinline__ Estimate ordered_estimate(const ClassSums& p, const ClassSums& q,
                                                     const SumsBefore& before,
                                                     const BoundRule& rule) {
  const float target_unit = has_signs ? rule.units.weight : rule.units.target;
  const float all_w = static_cast<float>(rule.all_weights) * rule.units.weight,
              all_t = static_cast<float>(rule.all_targets) * target_unit;
  const float w = static_cast<float>(before.w) * rule.units.weight,
              t = static_cast<float>(before.t) * target_unit;
  const float most = rule.units.most;
  const auto quality = [&](float left_w, float left_t, float off) {
    const float right_w = all_w - left_w, right_t = all_t - left_t;
    return rule.criterion == SplitCriterion::misclassification
               ? fabsf(left_t - right_t)
               : merit(fabsf(left_t) + off, left_w, most) +
                     merit(fabsf(right_t) + off, right_w, most);
  };
  const float between = quality(w, t, 0);
  const bool divides = before.w > 0 && before.w < rule.all_weights;
  const float reached = divides ? between : 0;
  if (rule.between_bins) return {between, reached};
  const float spread = has_signs ? 0 : p.spread() + q.spread();
  float bound = has_signs ? between : quality(w, t, spread);
  bound = max(bound, max(quality(w + p.w, t + p.t, spread), quality(w + q.w, t + q.t, spread)));
  if constexpr (!has_signs)
    bound = min(bound, merit(t, w, most) + p.s + q.s +
                           merit(all_t - t - p.t - q.t, all_w - w - p.w - q.w, most));
  return {bound, reached};
}

// Of the lane's feature, from bins first .. last - 1.
template <bool has_signs>
__device__ Estimate ordered_estimates(const GroupHistograms& histograms, const BoundRule& rule,
                                      int first, int last) {
  __shared__ SharedArray<std::int32_t, bound_threads> warp_w, warp_t;
  const auto add_bin = [&](int bin, std::int32_t& w, std::int32_t& t) {
    const BinSums sums = bin_sums<has_signs>(histograms, bin, lane());
    w += sums.w;
    t += sums.t;
  };
  std::int32_t own_w = 0, own_t = 0;
  for (int bin = first; bin < last; ++bin) add_bin(bin, own_w, own_t);
  warp_w[static_cast<int>(threadIdx.x)] = own_w;
  warp_t[static_cast<int>(threadIdx.x)] = own_t;
  __syncthreads();
  SumsBefore before{};
  for (int other = 0; other < warp(); ++other) {
    before.w += warp_w[other * lanes + lane()];
    before.t += warp_t[other * lanes + lane()];
  }
  Estimate best;
  for (int bin = first; bin < last; ++bin) {
    const ClassSums p = class_sums<has_signs>(histograms, rule.units, 0, bin, lane()),
                    q = class_sums<has_signs>(histograms, rule.units, 1, bin, lane());
    const Estimate own = ordered_estimate<has_signs>(p, q, before, rule);
    best.bound = max(best.bound, own.bound);
    best.reached = max(best.reached, own.reached);
    add_bin(bin, before.w, before.t);
  }
  return best;
}

// ---- codes, which have no order: a warp has the 256 codes of a feature, eight in each lane

constexpr int codes_of_lane = training::most_bins / lanes;
using Codes = unsigned[codes_of_lane];

// Sorts them, from lane to lane: element i * 32 + lane is keys[i]. A bitonic sort.
__device__ __forceinline__ void sort(Codes& keys) {
  FACESAT_UNROLL
  for (int run = 2; run <= training::most_bins; run *= 2) {
    FACESAT_UNROLL
    for (int distance = run / 2; distance > 0; distance /= 2) {
      FACESAT_UNROLL
      for (int i = 0; i < codes_of_lane; ++i) {
        const bool ascends = ((i * lanes + lane()) & run) == 0;
        if (distance < lanes) {
          const unsigned other =
              __shfl_xor_sync(full_warp, keys[i], static_cast<unsigned>(distance));
          const bool is_first = (lane() & distance) == 0;
          keys[i] = is_first == ascends ? min(keys[i], other) : max(keys[i], other);
        } else if ((i & (distance / lanes)) == 0) {
          unsigned &a = keys[i], &b = keys[i + distance / lanes];
          const unsigned least = min(a, b), most = max(a, b);
          a = ascends ? least : most;
          b = ascends ? most : least;
        }
      }
    }
  }
}

// The place of a mean response from -most to most, in 24 bits.
__device__ __forceinline__ unsigned place_of(float mean, float most) {
  constexpr float last = 0xFFFFFF;
  return static_cast<unsigned>(min(max((mean / most + 1) * (0.5f * last), 0.0f), last));
}

// The quality of the best split of a feature's codes: see boosting/cpu_screen.cpp.
template <bool has_signs>
__device__ float best_of_codes(const GroupHistograms& histograms, const BoundRule& rule,
                               int feature) {
  const float target_unit = has_signs ? rule.units.weight : rule.units.target;
  Codes keys;
  FACESAT_UNROLL
  for (int i = 0; i < codes_of_lane; ++i) {
    const int code = i * lanes + lane();
    const BinSums sums = bin_sums<has_signs>(histograms, code, feature);
    const float mean = static_cast<float>(sums.t) * target_unit /
                       (static_cast<float>(max(sums.w, 1)) * rule.units.weight);
    keys[i] = place_of(mean, rule.units.most) << 8 | static_cast<unsigned>(code);
  }
  sort(keys);
  float best = 0;
  SumsBefore before{};
  FACESAT_UNROLL
  for (int i = 0; i < codes_of_lane; ++i) {
    const BinSums sums = bin_sums<has_signs>(histograms, static_cast<int>(keys[i] & 255), feature);
    const std::int32_t w = before.w + warp_inclusive_scan(sums.w),
                       t = before.t + warp_inclusive_scan(sums.t);
    const auto side = [&](std::int32_t side_t, std::int32_t side_w) {
      return merit(static_cast<float>(side_t) * target_unit,
                   static_cast<float>(side_w) * rule.units.weight, rule.units.most);
    };
    best = max(best, side(t, w) + side(rule.all_targets - t, rule.all_weights - w));
    before.w = __shfl_sync(full_warp, w, lanes - 1);
    before.t = __shfl_sync(full_warp, t, lanes - 1);
  }
  return warp_max(best);
}

// Where classes count, the search for splits does not always find the best one, so no quality is
// known to be reached.
template <bool has_signs>
__device__ Estimate unordered_estimate(const GroupHistograms& histograms, const BoundRule& rule,
                                       int feature) {
  if (rule.criterion != SplitCriterion::misclassification) {
    const float best = best_of_codes<has_signs>(histograms, rule, feature);
    return {best, rule.criterion == SplitCriterion::regression ? best : 0};
  }
  // Each code is on the side of its class.
  float sum = 0;
  for (int i = 0; i < codes_of_lane; ++i) {
    const BinSums sums = bin_sums<has_signs>(histograms, i * lanes + lane(), feature);
    sum += fabsf(static_cast<float>(sums.t));
  }
  return {warp_sum(sum) * (has_signs ? rule.units.weight : rule.units.target), 0};
}

// ---- results

__device__ __forceinline__ float quality_of(float value, const BoundRule& rule) {
  return rule.criterion == SplitCriterion::regression
             ? value
             : 0.5f * (static_cast<float>(rule.all_weights) * rule.units.weight + value);
}

__device__ __forceinline__ float surely_above(const Estimate& estimate, const BoundRule& rule) {
  const float quality = quality_of(estimate.bound, rule);
  return quality + training::error_of(quality, rule.margin);
}

// To be called by one lane.
__device__ __forceinline__ void note(const Estimate& estimate, const BoundRule& rule,
                                     Reached* reached) {
  if (estimate.reached == 0) return;
  const float quality = quality_of(estimate.reached, rule);
  const float surely = quality - training::error_of(quality, rule.margin);
  // Positive numbers are in the order of their bits.
  if (surely > 0) atomicMax(&reached->bits, std::bit_cast<std::int32_t>(surely));
}

template <bool has_signs>
__global__ void __launch_bounds__(bound_threads, has_signs ? 3 : 1)
    bounds_kernel(const unsigned* bins, int samples, DeviceAddends addends,
                  FACESAT_PARAMETER(BoundRule) rule, float* bounds, Reached* reached) {
  __shared__ SharedArray<float, bound_threads> bounds_of_warps, reached_by_warps;
  GroupHistograms histograms(rule.bins);
  histograms.clear(has_signs);
  __syncthreads();
  const unsigned* const own =
      bins + static_cast<std::size_t>(blockIdx.x) * static_cast<std::size_t>(samples) * 8;
  for (int first = 16 * warp(); first < addends.all; first += 16 * warps)
    add_sixteen<has_signs>(histograms, own, addends, first, first >= addends.positives);
  __syncthreads();

  float* const own_bounds = bounds + static_cast<std::ptrdiff_t>(blockIdx.x) * features_of_group;
  if (rule.kind == FeatureKind::lbp) {
    constexpr int of_warp = features_of_group / warps;
    for (int feature = of_warp * warp(); feature < of_warp * (warp() + 1); ++feature) {
      const Estimate estimate = unordered_estimate<has_signs>(histograms, rule, feature);
      if (lane() != 0) continue;
      own_bounds[feature] = surely_above(estimate, rule);
      note(estimate, rule, reached);
    }
    return;
  }
  // Each warp has a part of the bins, which may be none.
  const int per_warp = divide_up(rule.bins, warps), first = min(warp() * per_warp, rule.bins),
            last = min(first + per_warp, rule.bins);
  Estimate estimate = ordered_estimates<has_signs>(histograms, rule, first, last);
  bounds_of_warps[static_cast<int>(threadIdx.x)] = estimate.bound;
  reached_by_warps[static_cast<int>(threadIdx.x)] = estimate.reached;
  __syncthreads();
  if (warp() != 0) return;
  for (int other = 1; other < warps; ++other) {
    const float bound = bounds_of_warps[other * lanes + lane()],
                reached_there = reached_by_warps[other * lanes + lane()];
    estimate.bound = max(estimate.bound, bound);
    estimate.reached = max(estimate.reached, reached_there);
  }
  own_bounds[lane()] = surely_above(estimate, rule);
  estimate.reached = warp_max(estimate.reached);
  if (lane() == 0) note(estimate, rule, reached);
}

__global__ void candidates_kernel(const float* bounds, int count, int first_feature, float least,
                                  Reached* reached, training::Candidates::One* list) {
  const int feature = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (feature >= count) return;
  const float bound = bounds[feature];
  if (bound < (least >= 0 ? least : std::bit_cast<float>(reached->bits))) return;
  list[atomicAdd(&reached->candidates, 1u)] = {bound,
                                               static_cast<std::uint32_t>(first_feature + feature)};
}

// ---- candidates, looked at again with finer bins

constexpr int finer_threads = 256, finer_bins = 2048, bins_of_thread = finer_bins / finer_threads;

// The sums of the bins before those of this thread.
template <bool has_signs>
__device__ SumsBefore sums_before(const Histograms<1>& histograms, int first) {
  __shared__ SharedArray<std::int32_t, finer_threads / lanes> warp_w, warp_t;
  SumsBefore own{};
  for (int bin = first; bin < first + bins_of_thread; ++bin) {
    const BinSums sums = bin_sums<has_signs>(histograms, bin, 0);
    own.w += sums.w;
    own.t += sums.t;
  }
  const SumsBefore through{warp_inclusive_scan(own.w), warp_inclusive_scan(own.t)};
  if (lane() == lanes - 1) {
    warp_w[warp()] = through.w;
    warp_t[warp()] = through.t;
  }
  __syncthreads();
  SumsBefore before{through.w - own.w, through.t - own.t};
  for (int other = 0; other < warp(); ++other) {
    before.w += warp_w[other];
    before.t += warp_t[other];
  }
  return before;
}

template <bool has_signs>
__device__ Estimate finer_estimate(const Histograms<1>& histograms, const BoundRule& rule) {
  __shared__ SharedArray<float, finer_threads / lanes> bounds_of_warps, reached_by_warps;
  const int first = bins_of_thread * static_cast<int>(threadIdx.x);
  SumsBefore before = sums_before<has_signs>(histograms, first);
  Estimate best;
  for (int bin = first; bin < first + bins_of_thread; ++bin) {
    const ClassSums p = class_sums<has_signs>(histograms, rule.units, 0, bin, 0),
                    q = class_sums<has_signs>(histograms, rule.units, 1, bin, 0);
    const Estimate own = ordered_estimate<has_signs>(p, q, before, rule);
    best.bound = max(best.bound, own.bound);
    best.reached = max(best.reached, own.reached);
    const BinSums sums = bin_sums<has_signs>(histograms, bin, 0);
    before.w += sums.w;
    before.t += sums.t;
  }
  best = {warp_max(best.bound), warp_max(best.reached)};
  if (lane() == 0) {
    bounds_of_warps[warp()] = best.bound;
    reached_by_warps[warp()] = best.reached;
  }
  __syncthreads();
  for (int other = 0; other < finer_threads / lanes; ++other) {
    const float bound = bounds_of_warps[other], reached = reached_by_warps[other];
    best.bound = max(best.bound, bound);
    best.reached = max(best.reached, reached);
  }
  return best;
}

template <bool has_signs>
__global__ void finer_bounds_kernel(SampleColumns columns, const FeatureRows* features,
                                    const QuantiserScale* quantisers, int first_feature,
                                    DeviceAddends addends, FACESAT_PARAMETER(BoundRule) rule,
                                    Reached* reached, training::Candidates::One* list) {
  Histograms<1> histograms(finer_bins);
  const unsigned count = reached->candidates;
  for (unsigned place = blockIdx.x; place < count; place += gridDim.x) {
    const int feature = static_cast<int>(list[place].feature) - first_feature;
    const FeatureRows rows = features[feature];
    const float finer = static_cast<float>(finer_bins) / static_cast<float>(rule.bins);
    const QuantiserScale quantiser{quantisers[feature].low, quantisers[feature].scale * finer};
    histograms.clear(has_signs);
    __syncthreads();
    for (int i = static_cast<int>(threadIdx.x); i < addends.all; i += finer_threads) {
      const float value = haar_value(columns, rows, static_cast<int>(addends.samples[i]));
      const int bin = static_cast<int>(bin_of(value, quantiser, finer_bins - 1)),
                is_negative = i >= addends.positives;
      const auto add = [&](int quantity, const std::int32_t* addend) {
        histograms.add(histograms.first(quantity, is_negative) + bin, addend[i]);
      };
      add(GroupHistograms::weights, addends.weights);
      if constexpr (!has_signs) {
        add(GroupHistograms::targets, addends.targets);
        add(GroupHistograms::squares, addends.squares);
      }
    }
    __syncthreads();
    const Estimate estimate = finer_estimate<has_signs>(histograms, rule);
    if (threadIdx.x == 0) {
      list[place].bound = min(list[place].bound, surely_above(estimate, rule));
      note(estimate, rule, reached);
    }
    __syncthreads();
  }
}

}  // namespace

void enqueue_value_sums(const SampleColumns& columns, const FeatureRows* features, int count,
                        int samples, int step, ValueSums* sums, StreamHandle stream) {
  constexpr int threads = 128;
  const dim3 grid(static_cast<unsigned>(divide_up(count, threads)));
  FACESAT_LAUNCH(value_sums_kernel, grid, dim3(threads), stream, columns, features, count, samples,
                 step, sums);
}

void enqueue_bins(const SampleColumns& columns, FeatureKind kind, const FeatureRows* features,
                  const QuantiserScale* quantisers, int bins, int groups, int samples,
                  std::uint8_t* out, StreamHandle stream) {
  constexpr int threads = 128;
  const dim3 grid(static_cast<unsigned>(divide_up(samples, threads)),
                  static_cast<unsigned>(groups));
  auto* const sectors = reinterpret_cast<uint4*>(out);
  const float last = static_cast<float>(bins - 1);
  if (kind == FeatureKind::haar)
    FACESAT_LAUNCH(bins_kernel<FeatureKind::haar>, grid, dim3(threads), stream, columns, features,
                   quantisers, last, samples, sectors);
  else
    FACESAT_LAUNCH(bins_kernel<FeatureKind::lbp>, grid, dim3(threads), stream, columns, features,
                   quantisers, last, samples, sectors);
}

void enqueue_bounds(const std::uint8_t* bins, int groups, int samples, const DeviceAddends& addends,
                    const BoundRule& rule, float* bounds, Reached* reached, StreamHandle stream) {
  const auto* const words = reinterpret_cast<const unsigned*>(bins);
  const std::size_t counters =
      static_cast<std::size_t>((rule.units.has_signs ? 2 : 6) * rule.bins * features_of_group);
  const dim3 grid(static_cast<unsigned>(groups));
  if (rule.units.has_signs)
    FACESAT_LAUNCH_SHARED(bounds_kernel<true>, grid, dim3(bound_threads), 4 * counters, stream,
                          words, samples, addends, rule, bounds, reached);
  else
    FACESAT_LAUNCH_SHARED(bounds_kernel<false>, grid, dim3(bound_threads), 4 * counters, stream,
                          words, samples, addends, rule, bounds, reached);
}

void enqueue_candidates(const float* bounds, int count, int first_feature,
                        std::optional<float> least, Reached* reached,
                        training::Candidates::One* list, StreamHandle stream) {
  constexpr int threads = 256;
  const dim3 grid(static_cast<unsigned>(divide_up(count, threads)));
  FACESAT_LAUNCH(candidates_kernel, grid, dim3(threads), stream, bounds, count, first_feature,
                 least.value_or(-1), reached, list);
}

void enqueue_finer_bounds(const SampleColumns& columns, const FeatureRows* features,
                          const QuantiserScale* quantisers, int first_feature, int blocks,
                          const DeviceAddends& addends, const BoundRule& rule, Reached* reached,
                          training::Candidates::One* list, StreamHandle stream) {
  const dim3 grid(static_cast<unsigned>(blocks));
  const auto bytes = [](int quantities) {
    return sizeof(std::int32_t) * static_cast<std::size_t>(quantities * finer_bins);
  };
  if (rule.units.has_signs)
    FACESAT_LAUNCH_SHARED(finer_bounds_kernel<true>, grid, dim3(finer_threads), bytes(2), stream,
                          columns, features, quantisers, first_feature, addends, rule, reached,
                          list);
  else
    FACESAT_LAUNCH_SHARED(finer_bounds_kernel<false>, grid, dim3(finer_threads), bytes(6), stream,
                          columns, features, quantisers, first_feature, addends, rule, reached,
                          list);
}

}  // namespace facesat::gpu
