// A cascade in device memory, compiled twice: for levels whose windows are 1 pixel apart and for
// those whose windows are 2 pixels apart.
#pragma once

#include <cstring>
#include <memory>
#include <vector>

#include "core/rules.hpp"
#include "kernels/cascade/evaluate.hpp"
#include "kernels/device/cuda.hpp"

namespace facesat::gpu {

class DeviceCascade {
 public:
  // Compiles and uploads `model`, unless it is loaded already. Shares its ownership: while it
  // lives, no other cascade can have its address, which is all that is compared.
  void load(const std::shared_ptr<const Cascade>& model, const EvaluatePlan& plan,
            cudaStream_t stream) {
    if (loaded_ == model) return;
    loaded_ = nullptr;
    const Cascade& cascade = *model;
    const Rect inner = rules::normalised_rectangle(cascade.window);
    inner_ = {inner.width, inner.height};
    std::vector<std::byte> contents;
    for (int i = 0; i < 2; ++i) {
      compiled_[i] = compile_cascade(cascade, plan.layout[i]);
      const auto add = [&](const auto& part) { return append(contents, part); };
      offsets_[i] = {std::visit(add, compiled_[i].nodes), add(compiled_[i].general),
                     add(compiled_[i].roots), add(compiled_[i].leaves), add(compiled_[i].stages)};
      layout_[i] = plan.layout[i];
    }
    reserve(memory_, contents.size());
    FACESAT_CUDA(cudaMemcpyAsync(memory_.data(), contents.data(), contents.size(),
                                 cudaMemcpyHostToDevice, stream));
    FACESAT_CUDA(cudaStreamSynchronize(stream));
    loaded_ = model;
  }

  // Fills in the members of `task` that describe the cascade.
  void set(EvaluateTask& task) const {
    task.inner = inner_;
    for (int i = 0; i < 2; ++i) {
      StepCascade& step = task.cascade[i];
      step = describe(compiled_[i], layout_[i]);
      step.nodes = at<std::byte>(offsets_[i].nodes);
      step.general = at<GeneralFeature>(offsets_[i].general);
      step.roots = at<std::int32_t>(offsets_[i].roots);
      step.leaves = at<std::int64_t>(offsets_[i].leaves);
      step.stages = at<CompiledStage>(offsets_[i].stages);
    }
  }

  void enqueue(const EvaluateTask& task, int tiles, cudaStream_t stream) const {
    enqueue_evaluate(task, compiled_[0], tiles, stream);
  }

  double score(std::int64_t sum) const { return score_of(compiled_[0], sum); }

 private:
  // Where the parts of a compiled cascade begin in memory_, in bytes.
  struct Offsets {
    std::size_t nodes, general, roots, leaves, stages;
  };

  template <class T>
  static std::size_t append(std::vector<std::byte>& contents, const std::vector<T>& part) {
    // Parts begin on 16-byte boundaries, because nodes are loaded 16 bytes at a time.
    const std::size_t offset = (contents.size() + 15) / 16 * 16;
    contents.resize(offset + part.size() * sizeof(T));
    if (!part.empty()) std::memcpy(contents.data() + offset, part.data(), part.size() * sizeof(T));
    return offset;
  }
  template <class T>
  const T* at(std::size_t offset) const {
    return reinterpret_cast<const T*>(memory_.data() + offset);
  }

  std::shared_ptr<const Cascade> loaded_;
  CompiledCascade compiled_[2];
  PatchLayout layout_[2];
  Offsets offsets_[2]{};
  Size inner_;  // see EvaluateTask::inner
  Buffer<std::byte> memory_;
};

}  // namespace facesat::gpu
