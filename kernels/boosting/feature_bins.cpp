#include "kernels/boosting/feature_bins.hpp"

#include "core/rules.hpp"

namespace facesat::gpu {

using training::Addends;
using training::FeaturePool;
using training::SampleTables;
using training::SplitCriterion;

namespace {

FeatureRows rows_of(const HaarFeature& feature, const SampleTables& tables) {
  FeatureRows rows{};
  for (std::size_t part = 0; part < feature.parts.size(); ++part) {
    const auto& [rect, weight] = feature.parts[part];
    rows.weight[part] = weight;
    if (weight == 0) continue;
    const auto corners = rules::corners_of(rect, feature.tilted);
    for (std::size_t k = 0; k < 4; ++k)
      rows.row[4 * part + k] =
          static_cast<std::uint16_t>(tables.row(corners[k].x, corners[k].y, feature.tilted));
  }
  return rows;
}

FeatureRows rows_of(const LbpFeature& feature, const SampleTables& tables) {
  FeatureRows rows{};
  const Rect& b = feature.block;
  for (int j = 0; j < 4; ++j)
    for (int i = 0; i < 4; ++i)
      rows.row[4 * j + i] =
          static_cast<std::uint16_t>(tables.row(b.x + i * b.width, b.y + j * b.height, false));
  return rows;
}

}  // namespace

std::vector<FeatureRows> feature_rows(const FeaturePool& pool, const SampleTables& tables) {
  std::vector<FeatureRows> rows;
  for (const HaarFeature& feature : pool.haar) rows.push_back(rows_of(feature, tables));
  for (const LbpFeature& feature : pool.lbp) rows.push_back(rows_of(feature, tables));
  while (rows.size() % features_of_group != 0) rows.push_back(rows.back());
  return rows;
}

PackedAddends::PackedAddends(const Addends& addends) {
  const auto padded = [](std::size_t count) {
    constexpr std::size_t multiple = DeviceAddends::multiple;
    return (count + multiple - 1) / multiple * multiple;
  };
  const std::size_t count = addends.weights.size();
  positives_ = padded(addends.positives);
  all_ = positives_ + padded(count - addends.positives);
  words_.assign((addends.units.has_signs ? 2 : 4) * all_, 0);
  const auto put = [&](std::size_t array, std::size_t i, auto value) {
    const std::size_t place = i < addends.positives ? i : positives_ + i - addends.positives;
    words_[array * all_ + place] = static_cast<std::uint32_t>(value);
  };
  for (std::size_t i = 0; i < count; ++i) {
    put(0, i, addends.samples.empty() ? i : addends.samples[i]);
    put(1, i, addends.weights[i]);
    if (addends.units.has_signs) continue;
    put(2, i, addends.targets[i]);
    put(3, i, addends.squares[i]);
  }
}

DeviceAddends PackedAddends::in(const std::uint32_t* memory) const {
  const auto* const integers = reinterpret_cast<const std::int32_t*>(memory);
  const bool has_signs = words_.size() == 2 * all_;
  return {.samples = memory,
          .weights = integers + all_,
          .targets = has_signs ? nullptr : integers + 2 * all_,
          .squares = has_signs ? nullptr : integers + 3 * all_,
          .positives = static_cast<int>(positives_),
          .all = static_cast<int>(all_)};
}

BoundRule rule_of(const Addends& addends, FeatureKind kind, SplitCriterion criterion,
                  bool between_bins, int bins) {
  BoundRule rule{.units = addends.units,
                 .margin = addends.margin,
                 .kind = kind,
                 .criterion = criterion,
                 .between_bins = between_bins,
                 .bins = bins};
  for (std::size_t i = 0; i < addends.weights.size(); ++i) {
    const std::int32_t w = addends.weights[i];
    rule.all_weights += w;
    rule.all_targets += !addends.units.has_signs ? addends.targets[i]
                        : i < addends.positives  ? w
                                                 : -w;
  }
  return rule;
}

}  // namespace facesat::gpu
