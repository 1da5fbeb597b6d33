#include "kernels/boosting/cuda_screen.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "kernels/boosting/feature_bins.hpp"
#include "kernels/cuda_backend.hpp"
#include "kernels/device/cuda.hpp"

namespace facesat::gpu {
namespace {

using training::Addends;
using training::Candidates;
using training::FeaturePool;
using training::NodeSamples;
using training::Quantiser;
using training::SampleTables;
using training::SplitCriterion;

// ---- the features of one device

class DevicePart {
 public:
  // `features` are whole groups; they begin with number `first` of the pool.
  DevicePart(int device, std::span<const FeatureRows> features, std::size_t first,
             const FeaturePool& pool, const SampleTables& tables, int bins, std::size_t memory)
      : device_(device),
        kind_(pool.kind),
        bins_(bins),
        groups_(static_cast<int>(features.size()) / features_of_group),
        samples_(static_cast<int>(tables.count())),
        first_(static_cast<int>(first)),
        count_(static_cast<int>(std::min(features.size(), pool.count() - first))) {
    FACESAT_CUDA(cudaSetDevice(device_));
    stream_ = make_stream();
    upload_tables(tables);
    features_ = Buffer<FeatureRows>(features.size());
    FACESAT_CUDA(cudaMemcpyAsync(features_.data(), features.data(), features_.bytes(),
                                 cudaMemcpyHostToDevice, stream_.get()));
    bounds_ = Buffer<float>(features.size());
    reached_ = Buffer<Reached>(1);
    list_ = Buffer<Candidates::One>(features.size());
    FACESAT_CUDA(cudaMemsetAsync(list_.data(), 0, list_.bytes(), stream_.get()));
    host_reached_ = PinnedBuffer<Reached>(1);
    host_list_ = PinnedBuffer<Candidates::One>(features.size());
    addends_ = Buffer<std::uint32_t>(PackedAddends::most_words(tables.count()));
    if (kind_ == FeatureKind::haar) find_quantisers();
    keep_bins(memory);
  }

  // Starts to look for candidates, which finish() returns.
  void start(const PackedAddends& addends, const BoundRule& rule, std::optional<float> least) {
    FACESAT_CUDA(cudaSetDevice(device_));
    upload(addends.words(), addends_.data(), stream_.get());
    FACESAT_CUDA(cudaMemsetAsync(reached_.data(), 0, reached_.bytes(), stream_.get()));
    const DeviceAddends own = addends.in(addends_.data());
    if (kept_ > 0)
      enqueue_bounds(kept_bins_.data(), kept_, samples_, own, rule, bounds_.data(), reached_.data(),
                     stream_.get());
    for (int first = kept_; first < groups_; first += scratch_groups_) {
      const int groups = std::min(scratch_groups_, groups_ - first);
      compute_bins(first, groups, scratch_.data());
      enqueue_bounds(scratch_.data(), groups, samples_, own, rule,
                     bounds_.data() + first * features_of_group, reached_.data(), stream_.get());
    }
    enqueue_candidates(bounds_.data(), count_, first_, least, reached_.data(), list_.data(),
                       stream_.get());
    if (kind_ == FeatureKind::haar && !rule.between_bins)
      enqueue_finer_bounds(columns_, features_.data(), scales_.data(), first_,
                           std::min(count_, most_finer_blocks), own, rule, reached_.data(),
                           list_.data(), stream_.get());
    copy(reached_.data(), 1, host_reached_.data());
    copy(list_.data(), std::min(list_.size(), usual_candidates), host_list_.data());
  }
  void wait() const {
    FACESAT_CUDA(cudaSetDevice(device_));
    FACESAT_CUDA(cudaStreamSynchronize(stream_.get()));
  }
  std::span<const Candidates::One> finish() const {
    wait();
    const std::size_t count = host_reached_.data()->candidates;
    if (count > usual_candidates) {
      copy(list_.data() + usual_candidates, count - usual_candidates,
           host_list_.data() + usual_candidates);
      FACESAT_CUDA(cudaStreamSynchronize(stream_.get()));
    }
    return {host_list_.data(), count};
  }
  // After finish().
  float reached() const { return std::bit_cast<float>(host_reached_.data()->bits); }

  const std::vector<Quantiser>& quantisers() const { return quantisers_; }

 private:
  // As many candidates are copied without waiting for their number.
  static constexpr std::size_t usual_candidates = 2048;
  static constexpr int most_finer_blocks = 1024;  // about as many as a device runs at a time

  template <class T>
  void copy(const T* from, std::size_t count, T* to) const {
    FACESAT_CUDA(
        cudaMemcpyAsync(to, from, count * sizeof(T), cudaMemcpyDeviceToHost, stream_.get()));
  }

  void upload_tables(const SampleTables& tables) {
    const View<const std::int32_t> rows = tables.tables();
    const std::size_t width = static_cast<std::size_t>(rows.size.width);
    tables_ = Buffer<std::int32_t>(width * static_cast<std::size_t>(rows.size.height));
    FACESAT_CUDA(cudaMemcpy2DAsync(
        tables_.data(), width * sizeof(std::int32_t), rows.data,
        static_cast<std::size_t>(rows.pitch) * sizeof(std::int32_t), width * sizeof(std::int32_t),
        static_cast<std::size_t>(rows.size.height), cudaMemcpyHostToDevice, stream_.get()));
    const std::span<const float> deviations = tables.inverse_deviations();
    deviations_ = Buffer<float>(deviations.size());
    FACESAT_CUDA(cudaMemcpyAsync(deviations_.data(), deviations.data(), deviations_.bytes(),
                                 cudaMemcpyHostToDevice, stream_.get()));
    columns_ = {tables_.data(), rows.size.width, deviations_.data()};
  }

  void find_quantisers() {
    const int count = groups_ * features_of_group;
    const int step = static_cast<int>(training::quantiser_step(static_cast<std::size_t>(samples_)));
    const Buffer<ValueSums> sums(static_cast<std::size_t>(count));
    enqueue_value_sums(columns_, features_.data(), count, samples_, step, sums.data(),
                       stream_.get());
    std::vector<ValueSums> host(sums.size());
    FACESAT_CUDA(cudaMemcpyAsync(host.data(), sums.data(), sums.bytes(), cudaMemcpyDeviceToHost,
                                 stream_.get()));
    FACESAT_CUDA(cudaStreamSynchronize(stream_.get()));
    const double values = divide_up(samples_, step);
    std::vector<QuantiserScale> scales;
    for (const ValueSums& of_feature : host) {
      quantisers_.push_back(
          training::quantiser_of(of_feature.sum, of_feature.squares, values, bins_));
      scales.push_back({quantisers_.back().low, quantisers_.back().scale});
    }
    scales_ = Buffer<QuantiserScale>(scales.size());
    upload(scales, scales_.data(), stream_.get());
    FACESAT_CUDA(cudaStreamSynchronize(stream_.get()));  // the vector ends here
  }

  // Computes the bins that stay in memory, and makes room for parts of the others.
  void keep_bins(std::size_t memory) {
    constexpr std::size_t scratch_bytes = std::size_t{64} << 20, reserve = std::size_t{256} << 20;
    std::size_t free = 0, total = 0;
    FACESAT_CUDA(cudaMemGetInfo(&free, &total));
    const std::size_t usable = std::min(memory, free > reserve ? free - reserve : 0);
    const std::size_t of_group =
        static_cast<std::size_t>(features_of_group) * static_cast<std::size_t>(samples_);
    const auto groups = static_cast<std::size_t>(groups_);
    kept_ = static_cast<int>(std::min(groups, usable / of_group));
    kept_bins_ = Buffer<std::uint8_t>(static_cast<std::size_t>(kept_) * of_group);
    if (kept_ > 0) compute_bins(0, kept_, kept_bins_.data());
    if (kept_ == groups_) return;
    scratch_groups_ = static_cast<int>(std::clamp<std::size_t>(
        scratch_bytes / of_group, 1, groups - static_cast<std::size_t>(kept_)));
    scratch_ = Buffer<std::uint8_t>(static_cast<std::size_t>(scratch_groups_) * of_group);
  }

  void compute_bins(int first, int groups, std::uint8_t* out) {
    constexpr int most_groups = 65535;  // of a grid
    const auto of_group =
        static_cast<std::size_t>(features_of_group) * static_cast<std::size_t>(samples_);
    for (int done = 0; done < groups; done += most_groups) {
      const int feature = (first + done) * features_of_group;
      enqueue_bins(columns_, kind_, features_.data() + feature,
                   kind_ == FeatureKind::haar ? scales_.data() + feature : nullptr, bins_,
                   std::min(most_groups, groups - done), samples_,
                   out + static_cast<std::size_t>(done) * of_group, stream_.get());
    }
  }

  int device_;
  FeatureKind kind_;
  int bins_, groups_, samples_;
  int first_, count_;  // of the pool's features: those that the groups have
  int kept_ = 0, scratch_groups_ = 0;
  Stream stream_;
  Buffer<std::int32_t> tables_;
  Buffer<float> deviations_;
  SampleColumns columns_;
  Buffer<FeatureRows> features_;
  Buffer<QuantiserScale> scales_;
  std::vector<Quantiser> quantisers_;
  Buffer<std::uint8_t> kept_bins_, scratch_;
  Buffer<std::uint32_t> addends_;
  Buffer<float> bounds_;
  Buffer<Reached> reached_;
  Buffer<Candidates::One> list_;
  PinnedBuffer<Reached> host_reached_;
  PinnedBuffer<Candidates::One> host_list_;
};

// ---- all devices

class CudaScreen final : public training::Screen {
 public:
  CudaScreen(const std::vector<int>& devices, const FeaturePool& pool, const SampleTables& tables,
             int bins, std::size_t memory)
      : kind_(pool.kind), bins_(kind_ == FeatureKind::lbp ? training::most_bins : bins) {
    const KeptDevice kept;
    const std::vector<FeatureRows> rows = feature_rows(pool, tables);
    const std::size_t groups = rows.size() / features_of_group;
    for (std::size_t i = 0; i < devices.size(); ++i) {
      const std::size_t first = groups * i / devices.size() * features_of_group,
                        end = groups * (i + 1) / devices.size() * features_of_group;
      if (first == end) continue;
      parts_.push_back(std::make_unique<DevicePart>(devices[i],
                                                    std::span(rows).subspan(first, end - first),
                                                    first, pool, tables, bins_, memory));
    }
    for (const auto& part : parts_) {
      part->wait();
      quantisers_.insert(quantisers_.end(), part->quantisers().begin(), part->quantisers().end());
    }
  }

  Candidates candidates(const NodeSamples& node, SplitCriterion criterion, bool between_bins,
                        std::optional<float> least) override {
    const KeptDevice kept;
    const Addends addends(node);
    const PackedAddends packed(addends);
    const BoundRule rule = rule_of(addends, kind_, criterion, between_bins, bins_);
    for (const auto& part : parts_) part->start(packed, rule, least);
    Candidates all;
    for (const auto& part : parts_) {
      const std::span<const Candidates::One> own = part->finish();
      all.features.insert(all.features.end(), own.begin(), own.end());
      all.least = std::max(all.least, least.value_or(part->reached()));
    }
    std::erase_if(all.features, [&](const Candidates::One& one) { return one.bound < all.least; });
    std::ranges::sort(all.features, std::greater(), &Candidates::One::bound);
    return all;
  }
  const Quantiser& quantiser(std::size_t feature) const override { return quantisers_[feature]; }

 private:
  FeatureKind kind_;
  int bins_;
  std::vector<std::unique_ptr<DevicePart>> parts_;
  std::vector<Quantiser> quantisers_;
};

}  // namespace

training::MakeScreen make_cuda_screens(std::vector<int> devices, std::size_t memory) {
  return [devices = std::move(devices), memory](const FeaturePool& pool, const SampleTables& tables,
                                                int bins, std::size_t) {
    return std::make_unique<CudaScreen>(devices, pool, tables, bins, memory);
  };
}

}  // namespace facesat::gpu
