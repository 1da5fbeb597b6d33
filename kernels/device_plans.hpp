// What the kernels need besides pictures, in device memory: the plans of frames of one size, and
// the cascade.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <vector>

#include "core/rules.hpp"
#include "kernels/cascade/evaluate.hpp"
#include "kernels/cascade/group_windows.hpp"
#include "kernels/device/cuda.hpp"
#include "kernels/image/steps.hpp"

namespace facesat::gpu {

// Arrays in device memory that are uploaded together: for small ones, a transfer costs the same
// whatever its length.
class PackedArrays {
 public:
  // Forgets all arrays, but keeps the memory.
  void clear() { contents_.clear(); }

  // Adds a copy of an array. Returns its offset in bytes, for at().
  template <class T>
  std::size_t add(const std::vector<T>& array) {
    // Any type of element may be loaded 16 bytes at a time.
    const std::size_t offset = (contents_.size() + 15) / 16 * 16;
    contents_.resize(offset + array.size() * sizeof(T));
    if (!array.empty())
      std::memcpy(contents_.data() + offset, array.data(), array.size() * sizeof(T));
    return offset;
  }

  // Enqueues the transfer. The device must no longer use what was uploaded before.
  void upload(cudaStream_t stream) {
    if (!uploaded_.get()) uploaded_ = make_event();
    FACESAT_CUDA(cudaEventSynchronize(uploaded_.get()));  // the last transfer reads the staging
    reserve(memory_, contents_.size());
    if (staging_.size() < contents_.size()) {
      staging_ = PinnedBuffer<std::byte>();
      staging_ = PinnedBuffer<std::byte>(contents_.size());
    }
    if (contents_.empty()) return;
    std::memcpy(staging_.data(), contents_.data(), contents_.size());
    FACESAT_CUDA(cudaMemcpyAsync(memory_.data(), staging_.data(), contents_.size(),
                                 cudaMemcpyHostToDevice, stream));
    FACESAT_CUDA(cudaEventRecord(uploaded_.get(), stream));
  }

  // An array in device memory, once it is uploaded.
  template <class T>
  const T* at(std::size_t offset) const {
    return reinterpret_cast<const T*>(memory_.data() + offset);
  }

 private:
  std::vector<std::byte> contents_;
  PinnedBuffer<std::byte> staging_;
  Buffer<std::byte> memory_;
  Event uploaded_;
};

// The plans of frames of one size.
class DevicePlans {
 public:
  // Plans the resizes and the boxes, and enqueues the transfer of all plans. The device must no
  // longer use what was loaded before.
  void load(const Pyramid& pyramid, const AtlasPlan& atlas, const EvaluatePlan& evaluate,
            cudaStream_t stream) {
    arrays_.clear();
    resizes_.clear();
    for (const LevelGroup& group : atlas.groups) {
      const ResizePlan plan = plan_resize(pyramid, atlas, group);
      resizes_.push_back({arrays_.add(plan.levels), arrays_.add(plan.taps), arrays_.add(plan.tiles),
                          static_cast<int>(plan.tiles.size())});
    }
    levels_ = arrays_.add(evaluate.levels);
    tiles_ = arrays_.add(evaluate.tiles);
    boxes_ = arrays_.add(plan_boxes(pyramid));
    arrays_.upload(stream);
  }

  // Of a group of levels: those that share an atlas (see atlas.hpp).
  DeviceResizePlan resize(int group) const {
    const Resize& plan = resizes_[group];
    return {arrays_.at<ResizeLevel>(plan.levels), arrays_.at<FourTaps>(plan.taps),
            arrays_.at<ResizeTile>(plan.tiles), plan.tile_count};
  }
  const EvaluateLevel* levels() const { return arrays_.at<EvaluateLevel>(levels_); }
  const EvaluateTile* tiles() const { return arrays_.at<EvaluateTile>(tiles_); }
  const BoxLevel* boxes() const { return arrays_.at<BoxLevel>(boxes_); }

 private:
  // Offsets in arrays_.
  struct Resize {
    std::size_t levels, taps, tiles;
    int tile_count;
  };

  PackedArrays arrays_;
  std::vector<Resize> resizes_;
  std::size_t levels_ = 0, tiles_ = 0, boxes_ = 0;
};

// A cascade in device memory, compiled twice: for levels whose windows are 1 pixel apart and for
// those whose windows are 2 pixels apart.
class DeviceCascade {
 public:
  // Compiles `model` and enqueues its transfer, unless it is loaded already; the device must no
  // longer use the one before. Shares its ownership: while it lives, no other cascade can have its
  // address, which is all that is compared.
  void load(const std::shared_ptr<const Cascade>& model, const EvaluatePlan& plan,
            cudaStream_t stream) {
    if (loaded_ == model) return;
    loaded_ = nullptr;
    const Cascade& cascade = *model;
    const Rect inner = rules::normalised_rectangle(cascade.window);
    inner_ = {inner.width, inner.height};
    arrays_.clear();
    for (int i = 0; i < 2; ++i) {
      compiled_[i] = compile_cascade(cascade, plan.layout[i]);
      const auto add = [&](const auto& part) { return arrays_.add(part); };
      offsets_[i] = {std::visit(add, compiled_[i].nodes), add(compiled_[i].general),
                     add(compiled_[i].roots), add(compiled_[i].leaves), add(compiled_[i].stages)};
      layout_[i] = plan.layout[i];
    }
    arrays_.upload(stream);
    loaded_ = model;
  }

  // Fills in the members of `task` that describe the cascade.
  void set(EvaluateTask& task) const {
    task.inner = inner_;
    for (int i = 0; i < 2; ++i) {
      StepCascade& step = task.cascade[i];
      step = describe(compiled_[i], layout_[i]);
      step.nodes = arrays_.at<std::byte>(offsets_[i].nodes);
      step.general = arrays_.at<GeneralFeature>(offsets_[i].general);
      step.roots = arrays_.at<std::int32_t>(offsets_[i].roots);
      step.leaves = arrays_.at<std::int64_t>(offsets_[i].leaves);
      step.stages = arrays_.at<CompiledStage>(offsets_[i].stages);
    }
  }

  void enqueue(const EvaluateTask& task, int tiles, cudaStream_t stream) const {
    enqueue_evaluate(task, compiled_[0], tiles, stream);
  }

  // For score_of().
  const CompiledCascade& compiled() const { return compiled_[0]; }

 private:
  // Offsets in arrays_ of the parts of a compiled cascade.
  struct Offsets {
    std::size_t nodes, general, roots, leaves, stages;
  };

  std::shared_ptr<const Cascade> loaded_;
  CompiledCascade compiled_[2];
  PatchLayout layout_[2];
  Offsets offsets_[2]{};
  Size inner_;  // see EvaluateTask::inner
  PackedArrays arrays_;
};

}  // namespace facesat::gpu
