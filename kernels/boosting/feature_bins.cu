// Bins of features' values, and bounds of their best splits.
//
// Idea: a histogram of the samples' weights over the bins of a feature's values bounds what its
//   best split can reach, as on the CPU (boosting/cpu_screen.cpp). A block makes the histograms of
//   32 features at once, in shared memory: a bin is 32 counters side by side, one per feature, so
//   that counter and bank belong to the feature. Lanes of a warp add to the counters of 32
//   different features, so that no two use the same bank, whatever the bins are.
// Shapes: bins: a thread per sample and group of 32 features; its 32 bins are one sector. Bounds: a
//   block of 16 warps per group. A lane reads four bins of one sample in one word, and eight
//   lanes share a sample; lanes of the second, third and fourth sample begin with another of their
//   four features, which is what makes all 32 different. Then each warp has a sixteenth of the
//   bins, and each lane a feature.
// Reads and writes: bins: 8 to 16 table elements per feature and sample, from L2; a byte is
//   written. Bounds: that byte, and an atomic addition in shared memory (three without signs); 8
//   bytes of the addends per sample, four times per group. The samples of a node, or those that are
//   not trimmed, are a list: a sector is read only for these.
// Limits: 162,336 features and 10,000 samples are 1.62 GB of bins, 0.39 ms at 4.2 TB/s. The kernel
//   takes 1.15 to 1.23 ms (NVIDIA H200, 2026-11-28, ncu of facesat train --window 24x24): 73 % of
//   the multiprocessors' issue slots, 66 % of L1. With 8 warps per block, of which three fit
//   because of the counters, it took 1.7 to 1.9 ms: latency.
// Source: the project's own; see boosting/cpu_screen.cpp for that of the bound.
#include <cmath>
#include <type_traits>
#include <utility>

#include "core/rules.hpp"
#include "kernels/boosting/feature_bins.hpp"
#include "kernels/device/platform.hpp"

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

// Counters of a group: of weights and, without signs, of targets and squares, for each class.
class Histograms {
 public:
  enum Quantity { weights, targets, squares };

  __device__ explicit Histograms(int bins) : bins_(bins) {}
  __device__ void clear(bool has_signs) {
    const int all = (has_signs ? 2 : 6) * bins_ * features_of_group;
    for (int i = static_cast<int>(threadIdx.x); i < all; i += bound_threads) counters_[i] = 0;
  }
  __device__ int first(int quantity, int is_negative) const {
    return (2 * quantity + is_negative) * bins_ * features_of_group;
  }
  __device__ void add(int counter, std::int32_t value) { atomic_add(counters_, counter, value); }
  __device__ std::int32_t at(int quantity, int is_negative, int bin, int feature) const {
    return counters_[first(quantity, is_negative) + bin * features_of_group + feature];
  }

 private:
  DynamicShared<std::int32_t> counters_;
  int bins_;
};

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
__device__ __forceinline__ void add_sixteen(Histograms& histograms, const unsigned* bins,
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
  const int of_weights = histograms.first(Histograms::weights, is_negative),
            of_targets = histograms.first(Histograms::targets, is_negative),
            of_squares = histograms.first(Histograms::squares, is_negative);
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

template <bool has_signs>
__device__ __forceinline__ ClassSums class_sums(const Histograms& histograms,
                                                const training::Addends::Units& units,
                                                int is_negative, int bin, int feature) {
  const auto load = [&](int quantity, float unit) {
    return static_cast<float>(histograms.at(quantity, is_negative, bin, feature)) * unit;
  };
  const float w = load(Histograms::weights, units.weight);
  if constexpr (has_signs) return {w, is_negative ? -w : w, w};
  return {w, load(Histograms::targets, units.target), load(Histograms::squares, units.square)};
}

// Of the bins before a bin.
struct SumsBefore {
  std::int32_t w, t;
};

// Of a split within the bin or before it.
template <bool has_signs>
__device__ __forceinline__ float ordered_bound(const ClassSums& p, const ClassSums& q,
                                               const SumsBefore& before, const BoundRule& rule) {
  const float target_unit = has_signs ? rule.units.weight : rule.units.target;
  const float all_w = static_cast<float>(rule.all_weights) * rule.units.weight,
              all_t = static_cast<float>(rule.all_targets) * target_unit;
  const float w = static_cast<float>(before.w) * rule.units.weight,
              t = static_cast<float>(before.t) * target_unit;
  const float most = rule.units.most;
  const float spread = has_signs || rule.between_bins ? 0 : p.spread() + q.spread();
  const auto quality = [&](float left_w, float left_t) {
    const float right_w = all_w - left_w, right_t = all_t - left_t;
    return rule.criterion == SplitCriterion::misclassification
               ? fabsf(left_t - right_t)
               : merit(fabsf(left_t) + spread, left_w, most) +
                     merit(fabsf(right_t) + spread, right_w, most);
  };
  float bound = quality(w, t);
  if (rule.between_bins) return bound;
  bound = max(bound, max(quality(w + p.w, t + p.t), quality(w + q.w, t + q.t)));
  if constexpr (!has_signs)
    bound = min(bound, merit(t, w, most) + p.s + q.s +
                           merit(all_t - t - p.t - q.t, all_w - w - p.w - q.w, most));
  return bound;
}

template <bool has_signs>
__device__ float ordered_bounds(const Histograms& histograms, const BoundRule& rule, int first,
                                int last) {
  __shared__ SharedArray<std::int32_t, bound_threads> warp_w, warp_t;
  const auto add_bin = [&](int bin, std::int32_t& w, std::int32_t& t) {
    const std::int32_t p = histograms.at(Histograms::weights, 0, bin, lane()),
                       q = histograms.at(Histograms::weights, 1, bin, lane());
    w += p + q;
    if constexpr (has_signs)
      t += p - q;
    else
      t += histograms.at(Histograms::targets, 0, bin, lane()) +
           histograms.at(Histograms::targets, 1, bin, lane());
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
  float best = 0;
  for (int bin = first; bin < last; ++bin) {
    const ClassSums p = class_sums<has_signs>(histograms, rule.units, 0, bin, lane()),
                    q = class_sums<has_signs>(histograms, rule.units, 1, bin, lane());
    best = max(best, ordered_bound<has_signs>(p, q, before, rule));
    add_bin(bin, before.w, before.t);
  }
  return best;
}

template <bool has_signs>
__device__ float unordered_bounds(const Histograms& histograms, const BoundRule& rule, int first,
                                  int last) {
  float sum = 0;
  for (int bin = first; bin < last; ++bin) {
    const ClassSums p = class_sums<has_signs>(histograms, rule.units, 0, bin, lane()),
                    q = class_sums<has_signs>(histograms, rule.units, 1, bin, lane());
    const float w = p.w + q.w, t = p.t + q.t;
    sum += rule.criterion == SplitCriterion::misclassification ? fabsf(t)
                                                               : merit(t, w, rule.units.most);
  }
  return sum;
}

template <bool has_signs>
__global__ void __launch_bounds__(bound_threads, has_signs ? 3 : 1)
    bounds_kernel(const unsigned* bins, int samples, DeviceAddends addends,
                  FACESAT_PARAMETER(BoundRule) rule, float* bounds) {
  __shared__ SharedArray<float, bound_threads> of_warps;
  Histograms histograms(rule.bins);
  histograms.clear(has_signs);
  __syncthreads();
  const unsigned* const own =
      bins + static_cast<std::size_t>(blockIdx.x) * static_cast<std::size_t>(samples) * 8;
  for (int first = 16 * warp(); first < addends.all; first += 16 * warps)
    add_sixteen<has_signs>(histograms, own, addends, first, first >= addends.positives);
  __syncthreads();

  // Each warp has a part of the bins, which may be none, and each lane a feature.
  const int per_warp = divide_up(rule.bins, warps), first = min(warp() * per_warp, rule.bins),
            last = min(first + per_warp, rule.bins);
  const bool is_ordered = rule.kind == FeatureKind::haar;
  of_warps[static_cast<int>(threadIdx.x)] =
      is_ordered ? ordered_bounds<has_signs>(histograms, rule, first, last)
                 : unordered_bounds<has_signs>(histograms, rule, first, last);
  __syncthreads();
  if (warp() != 0) return;
  float bound = 0;
  for (int other = 0; other < warps; ++other) {
    const float theirs = of_warps[other * lanes + lane()];
    bound = is_ordered ? max(bound, theirs) : bound + theirs;
  }
  if (rule.criterion != SplitCriterion::regression)
    bound = 0.5f * (static_cast<float>(rule.all_weights) * rule.units.weight + bound);
  bounds[static_cast<int>(blockIdx.x) * lanes + lane()] = bound + rule.margin + 1e-5f * (1 + bound);
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
                    const BoundRule& rule, float* bounds, StreamHandle stream) {
  const auto* const words = reinterpret_cast<const unsigned*>(bins);
  const std::size_t counters =
      static_cast<std::size_t>((rule.units.has_signs ? 2 : 6) * rule.bins * features_of_group);
  const dim3 grid(static_cast<unsigned>(groups));
  if (rule.units.has_signs)
    FACESAT_LAUNCH_SHARED(bounds_kernel<true>, grid, dim3(bound_threads), 4 * counters, stream,
                          words, samples, addends, rule, bounds);
  else
    FACESAT_LAUNCH_SHARED(bounds_kernel<false>, grid, dim3(bound_threads), 4 * counters, stream,
                          words, samples, addends, rule, bounds);
}

}  // namespace facesat::gpu
