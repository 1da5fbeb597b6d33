// The late stages of a cascade in device memory, and the queues between the kernels that evaluate
// them: see late_stages.hpp.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "kernels/cascade/late_stages.hpp"
#include "kernels/device/cuda.hpp"

namespace facesat::gpu {

// Not for use by several frames at once.
class DeviceLateStages {
 public:
  // Compiles and uploads the stages from the first of `group_begins` on; see compile_products().
  // Without groups, or if the device cannot evaluate them (product_nodes(),
  // choose_column_groups()), nothing is loaded, and all stages are early ones. Shares the cascade's
  // ownership: while it lives, no other cascade can have its address, which is all that is
  // compared.
  void load(const std::shared_ptr<const Cascade>& model, const std::vector<int>& group_begins,
            int shared_bytes, cudaStream_t stream) {
    if (loaded_ == model && group_begins_ == group_begins) return;
    loaded_ = nullptr;
    products_ = {};
    const std::optional<int> nodes = group_begins.empty() ? std::nullopt : product_nodes(*model);
    const int columns = nodes ? choose_column_groups(model->window, *nodes, shared_bytes) : 0;
    if (columns > 0) {
      products_ = compile_products(*model, group_begins, columns);
      window_ = model->window;
      shared_bytes_ = shared_bytes;
      by_warpgroup_ = can_multiply_by_warpgroup();
      reserve(slices_, products_.slices.size());
      FACESAT_CUDA(cudaMemcpyAsync(slices_.data(), products_.slices.data(), products_.slices.size(),
                                   cudaMemcpyHostToDevice, stream));
      FACESAT_CUDA(cudaStreamSynchronize(stream));
    }
    loaded_ = model;
    group_begins_ = group_begins;
  }

  bool empty() const { return products_.groups.empty(); }

  // Makes room for frames whose levels in one atlas have this many windows. Most of them are
  // rejected early; if too many are not, evaluate.cu evaluates their late stages.
  void prepare(std::size_t windows) {
    if (empty()) return;
    constexpr std::size_t least = 1 << 14, share = 4;
    capacity_ = 0;
    const std::size_t capacity = std::max(least, windows / share);
    for (Buffer<LateWindow>& queue : queues_) reserve(queue, capacity);
    reserve(counts_, products_.groups.size());
    capacity_ = static_cast<std::uint32_t>(capacity);
  }

  // Makes the early stages end where the late ones begin.
  void set(EvaluateTask& task) const {
    if (empty()) return;
    task.late = queue(0);
    task.early_stages = products_.groups.front().first_stage;
  }

  // To be enqueued before and after the early stages.
  void enqueue_reset(cudaStream_t stream) const {
    if (!empty())
      FACESAT_CUDA(cudaMemsetAsync(counts_.data(), 0,
                                   products_.groups.size() * sizeof(std::uint32_t), stream));
  }
  void enqueue(const EvaluateTask& early, View<const std::uint8_t> atlas,
               cudaStream_t stream) const {
    const auto count = static_cast<int>(products_.groups.size());
    for (int g = 0; g < count; ++g) {
      const StageGroup& group = products_.groups[g];
      LateTask task{};
      task.atlas = atlas;
      task.levels = early.levels;
      task.in = queue(g);
      if (g + 1 < count) task.out = queue(g + 1);
      task.candidates = early.candidates;
      task.candidate_count = early.candidate_count;
      task.capacity = early.capacity;
      task.slices = reinterpret_cast<const uint4*>(
          slices_.data() + static_cast<std::size_t>(group.first_slice) * products_.layout.bytes());
      task.slice_count = group.slices;
      task.layout = products_.layout;
      task.bytes = products_.window;
      task.window = window_;
      task.shape = choose_late_shape(products_.layout, group.slices, shared_bytes_);
      task.by_warpgroup = by_warpgroup_;
      enqueue_late_stages(task, stream);
    }
  }

 private:
  // The queue before a group. Two are enough, because a kernel reads one and writes the other.
  WindowQueue queue(int group) const {
    return {queues_[group % 2].data(), counts_.data() + group, capacity_};
  }

  std::shared_ptr<const Cascade> loaded_;
  std::vector<int> group_begins_;  // of loaded_
  CompiledProducts products_;
  int shared_bytes_ = 0;
  bool by_warpgroup_ = false;
  Size window_;
  std::uint32_t capacity_ = 0;
  Buffer<std::byte> slices_;
  Buffer<LateWindow> queues_[2];
  Buffer<std::uint32_t> counts_;
};

}  // namespace facesat::gpu
