// Kernels of the training: the bins of all features' values for all samples of a stage, and bounds
// of the features' best splits from histograms over these bins (boosting/screen.hpp). All arrays
// are in device memory. Includes no CUDA headers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "boosting/screen.hpp"
#include "kernels/device/stream.hpp"

namespace facesat::gpu {

// Features are processed in groups of this many, whose bins for a sample lie side by side.
constexpr int features_of_group = 32;

// Of SampleTables: one row per corner, with the table element of each sample.
struct SampleColumns {
  const std::int32_t* tables = nullptr;
  std::ptrdiff_t pitch = 0;  // elements from one row to the next
  const float* inverse_deviations = nullptr;
};

// The rows that a feature reads: four corners of each rectangle of a Haar feature, in the order of
// rules::corner_signs, or the corners of an LBP feature's grid. Rows of a part that is absent, of
// weight 0, are not read.
struct FeatureRows {
  std::uint16_t row[16];
  float weight[3];
};
// Of whole groups: the last feature is repeated.
std::vector<FeatureRows> feature_rows(const training::FeaturePool& pool,
                                      const training::SampleTables& tables);

// What a Quantiser needs besides the number of bins.
struct QuantiserScale {
  float low, scale;
};

// The sum and the sum of squares of each Haar feature's values for samples 0, step, 2 * step ...
// below `samples`, added up in this order, in f64 as quantiser_of() does.
struct ValueSums {
  double sum, squares;
};
void enqueue_value_sums(const SampleColumns& columns, const FeatureRows* features, int count,
                        int samples, int step, ValueSums* sums, StreamHandle stream);

// The bins of whole groups of features for samples 0 .. samples - 1. Those of a sample are 32
// bytes, those of a group 32 * samples bytes. LBP features have no quantisers; bins are codes.
void enqueue_bins(const SampleColumns& columns, FeatureKind kind, const FeatureRows* features,
                  const QuantiserScale* quantisers, int bins, int groups, int samples,
                  std::uint8_t* out, StreamHandle stream);

// What training::Addends has, padded with zeros: positives first. Arrays start on 16 bytes.
struct DeviceAddends {
  static constexpr int multiple = 16;  // of the numbers of positives and of negatives

  const std::uint32_t* samples = nullptr;
  const std::int32_t *weights = nullptr, *targets = nullptr, *squares = nullptr;
  int positives = 0, all = 0;
};

// These arrays one after the other, to be copied to device memory.
class PackedAddends {
 public:
  explicit PackedAddends(const training::Addends& addends);
  const std::vector<std::uint32_t>& words() const { return words_; }
  // The same words at another address.
  DeviceAddends in(const std::uint32_t* memory) const;
  // The most words that this number of samples needs.
  static constexpr std::size_t most_words(std::size_t samples) {
    return 4 * (samples + 2 * DeviceAddends::multiple);
  }

 private:
  std::size_t positives_, all_;
  std::vector<std::uint32_t> words_;
};

// How bounds follow from histograms.
struct BoundRule {
  training::Addends::Units units;
  float margin = 0;
  // Sums over the node; of targets, if responses are signs, positives' weights less negatives'.
  std::int32_t all_weights = 0, all_targets = 0;
  FeatureKind kind = FeatureKind::haar;
  training::SplitCriterion criterion = training::SplitCriterion::regression;
  bool between_bins = false;
  int bins = 0;
};

BoundRule rule_of(const training::Addends& addends, FeatureKind kind,
                  training::SplitCriterion criterion, bool between_bins, int bins);

// What becomes known of the features of a node; zeros at first.
struct Reached {
  std::int32_t bits = 0;         // of a quality in f32 that is thought to be reached
  std::uint32_t candidates = 0;  // in the list
};

// The bounds of all features of the groups whose bins are given, and the highest quality that one
// of them reaches, or what has been reached before.
void enqueue_bounds(const std::uint8_t* bins, int groups, int samples, const DeviceAddends& addends,
                    const BoundRule& rule, float* bounds, Reached* reached, StreamHandle stream);

// Lists the features whose bounds are not below what is reached, or `least`, in any order. The list
// has room for all of them; `first_feature` is the number of the first.
void enqueue_candidates(const float* bounds, int count, int first_feature,
                        std::optional<float> least, Reached* reached,
                        training::Candidates::One* list, StreamHandle stream);

// Lowers the bounds of listed Haar features, from more bins than rule.bins, for splits that may
// divide these. `features` and `quantisers` begin with number `first_feature`. At most
// `blocks` blocks share the list.
void enqueue_finer_bounds(const SampleColumns& columns, const FeatureRows* features,
                          const QuantiserScale* quantisers, int first_feature, int blocks,
                          const DeviceAddends& addends, const BoundRule& rule, Reached* reached,
                          training::Candidates::One* list, StreamHandle stream);

}  // namespace facesat::gpu
