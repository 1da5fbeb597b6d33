// Evaluates the late stages of a Haar cascade on tensor cores, for the windows that passed the
// early ones: from pixels to candidates, without integral images. See compiled_products.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/image.hpp"
#include "kernels/cascade/compiled_products.hpp"
#include "kernels/cascade/evaluate.hpp"
#include "kernels/device/platform.hpp"

namespace facesat::gpu {

// How much a block multiplies at once. A slice is as many bundles as column_groups hold.
struct LateShape {
  int column_groups;  // of a slice; a multiple of a tree's nodes
  int warpgroups;     // of a block; a warpgroup is 4 warps
  int slots;  // for slices in shared memory: for all of a group, or 2, which they pass through
};

// The shape for a group with this number of bundles, on a device whose blocks have at most
// `shared_bytes` of shared memory. No warpgroups: that is too little.
LateShape choose_late_shape(const BundleLayout& layout, int bundles, int shared_bytes);

struct LateTask {
  View<const std::uint8_t> atlas;         // rows begin on 4-byte boundaries
  const EvaluateLevel* levels;            // of the pyramid
  std::int32_t first_level, level_count;  // that are in the atlas
  WindowQueue in;
  WindowQueue out;                 // of the next group; without memory if this is the last one
  Candidate* candidates;           // of the last group
  std::uint32_t* candidate_count;  // may exceed the capacity
  std::uint32_t capacity;
  // The group's bundles, and spare ones after them: see CompiledProducts.
  const uint4 *weights, *trees;
  std::int32_t bundles;
  BundleLayout layout;
  WindowBytes bytes;
  Size window;
  LateShape shape;
  bool by_warpgroup;  // multiply_by_warpgroup(): see can_multiply_by_warpgroup()
};

// A task that evaluates the stages from `first_stage` up to, but not including, `end_stage`, with
// the members that describe them. `weights` and `trees` are those of `products`, in device memory,
// on 16-byte boundaries.
LateTask products_task(const CompiledProducts& products, const std::byte* weights,
                       const std::byte* trees, int first_stage, int end_stage);

// Whether the current device can, and this build has the code.
bool can_multiply_by_warpgroup();

// Enqueues one launch, for one group of stages. Survivors are appended in no particular order.
void enqueue_late_stages(const LateTask& task, StreamHandle stream);

}  // namespace facesat::gpu
