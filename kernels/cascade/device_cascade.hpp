// A cascade in device memory, compiled twice: for levels whose windows are 1 pixel apart and for
// those whose windows are 2 pixels apart.
#pragma once

#include <memory>

#include "core/rules.hpp"
#include "kernels/cascade/evaluate.hpp"
#include "kernels/device/packed_arrays.hpp"

namespace facesat::gpu {

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
      places_[i] = {std::visit(add, compiled_[i].nodes), add(compiled_[i].general),
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
      step.nodes = arrays_.at<std::byte>(places_[i].nodes);
      step.general = arrays_.at<GeneralFeature>(places_[i].general);
      step.roots = arrays_.at<std::int32_t>(places_[i].roots);
      step.leaves = arrays_.at<std::int64_t>(places_[i].leaves);
      step.stages = arrays_.at<CompiledStage>(places_[i].stages);
    }
  }

  void enqueue(const EvaluateTask& task, int tiles, cudaStream_t stream) const {
    enqueue_evaluate(task, compiled_[0], tiles, stream);
  }

  // For score_of().
  const CompiledCascade& compiled() const { return compiled_[0]; }

 private:
  // Places in arrays_ of the parts of a compiled cascade.
  struct Places {
    std::size_t nodes, general, roots, leaves, stages;
  };

  std::shared_ptr<const Cascade> loaded_;
  CompiledCascade compiled_[2];
  PatchLayout layout_[2];
  Places places_[2]{};
  Size inner_;  // see EvaluateTask::inner
  PackedArrays arrays_;
};

}  // namespace facesat::gpu
