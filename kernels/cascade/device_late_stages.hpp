// The late stages of a cascade in device memory, and the queues between the kernels that evaluate
// them: see late_stages.hpp.
#pragma once

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "core/memory.hpp"
#include "kernels/cascade/late_division.hpp"
#include "kernels/cascade/late_stages.hpp"
#include "kernels/device/cuda.hpp"

namespace facesat::gpu {

// Not for use by several frames at once.
class DeviceLateStages {
 public:
  // Compiles and uploads a cascade, if it can be compiled (product_nodes()) and there is memory.
  // `shared_bytes`: the most that a block of the device may have. Shares the cascade's ownership:
  // while it lives, no other cascade can have its address, which is all that is compared.
  void load(const std::shared_ptr<const Cascade>& model, int shared_bytes, cudaStream_t stream) {
    if (loaded_ == model) return;
    loaded_ = nullptr;
    products_ = {};
    group_begins_ = {};
    shared_bytes_ = shared_bytes;
    by_warpgroup_ = can_multiply_by_warpgroup();
    if (product_nodes(*model)) {
      CompiledProducts products = compile_products(*model);
      try {
        reserve(weights_, products.weights.size());
        reserve(trees_, products.trees.size());
      } catch (const MemoryError&) {
        return;
      }
      products_ = std::move(products);
      window_ = model->window;
      upload(products_.weights, weights_.data(), stream);
      upload(products_.trees, trees_.data(), stream);
      FACESAT_CUDA(cudaStreamSynchronize(stream));
    }
    loaded_ = model;
  }

  // Divides the stages of the loaded cascade, for frames whose levels in one atlas have this many
  // windows. Groups that the cascade does not have are left out. All stages are early ones if there
  // is no cascade or too little memory.
  void divide(LateDivision group_begins, std::size_t windows, cudaStream_t stream) {
    group_begins_ = {};
    if (products_.weights.empty()) return;
    std::erase_if(group_begins, [&](int first) { return first >= stage_count(); });
    group_begins.push_back(stage_count());
    for (std::size_t g = 0; g + 1 < group_begins.size(); ++g)
      if (shape_of(group_begins[g], group_begins[g + 1]).warpgroups == 0) return;
    group_begins.pop_back();
    try {
      if (!group_begins.empty()) make_room(group_begins.size(), windows, stream);
    } catch (const MemoryError&) {
      return;
    }
    group_begins_ = std::move(group_begins);
  }

  // The division with the least time, which measure() returns for the current one. Leaves the
  // stages divided so.
  template <class Measure>
  LateDivision divide_fastest(std::size_t windows, cudaStream_t stream, Measure measure) {
    LateDivision fastest;
    double least = std::numeric_limits<double>::infinity();
    for (const LateDivision& division :
         products_.weights.empty() ? std::vector<LateDivision>{} : late_divisions(products_)) {
      divide(division, windows, stream);
      const double time = measure();
      if (time < least) fastest = group_begins_;
      least = std::min(least, time);
    }
    divide(fastest, windows, stream);
    return fastest;
  }

  bool empty() const { return group_begins_.empty(); }

  // Makes the early stages end where the late ones begin.
  void set(EvaluateTask& task, View<const std::uint8_t> atlas) const {
    if (empty()) return;
    task.late = queue(0);
    task.early_stages = group_begins_.front();
    task.atlas_pitch = static_cast<std::uint32_t>(atlas.pitch);
  }

  // To be enqueued after the early stages.
  void enqueue(const EvaluateTask& early, View<const std::uint8_t> atlas,
               cudaStream_t stream) const {
    for (std::size_t g = 0; g < group_begins_.size(); ++g) {
      const bool is_last = g + 1 == group_begins_.size();
      const int first = group_begins_[g], end = is_last ? stage_count() : group_begins_[g + 1];
      LateTask task = products_task(products_, weights_.data(), trees_.data(), first, end);
      task.atlas = atlas;
      task.in = queue(g);
      if (!is_last) task.out = queue(g + 1);
      task.candidates = early.candidates;
      task.candidate_count = early.candidate_count;
      task.capacity = early.capacity;
      task.window = window_;
      task.shape = shape_of(first, end);
      task.by_warpgroup = by_warpgroup_;
      enqueue_late_stages(task, stream);
    }
  }

 private:
  // Most windows are rejected early; if too many are not, evaluate.cu evaluates their late stages.
  void make_room(std::size_t groups, std::size_t windows, cudaStream_t stream) {
    constexpr std::size_t least = 1 << 14, share = 4;
    const std::size_t capacity = std::max(least, windows / share);
    for (Buffer<LateWindow>& queue : queues_) reserve(queue, capacity);
    reserve(states_, groups);
    FACESAT_CUDA(cudaMemsetAsync(states_.data(), 0, states_.bytes(), stream));
    capacity_ = static_cast<std::uint32_t>(capacity);
  }

  int stage_count() const { return static_cast<int>(products_.first_bundle.size()) - 1; }
  LateShape shape_of(int first_stage, int end_stage) const {
    return choose_late_shape(
        products_.layout, products_.first_bundle[end_stage] - products_.first_bundle[first_stage],
        shared_bytes_);
  }
  // The queue before a group. Two are enough, because a kernel reads one and writes the other.
  WindowQueue queue(std::size_t group) const {
    return {queues_[group % 2].data(), states_.data() + group, capacity_};
  }

  std::shared_ptr<const Cascade> loaded_;
  CompiledProducts products_;
  LateDivision group_begins_;
  int shared_bytes_ = 0;
  bool by_warpgroup_ = false;
  Size window_;
  std::uint32_t capacity_ = 0;
  Buffer<std::byte> weights_, trees_;
  Buffer<LateWindow> queues_[2];
  Buffer<QueueState> states_;
};

}  // namespace facesat::gpu
