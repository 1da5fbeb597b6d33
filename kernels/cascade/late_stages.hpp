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

// How many windows a block multiplies at once, and with how much of the cascade.
struct LateShape {
  int row_groups;     // each warp has this many groups of 16 windows
  int column_groups;  // of a slice
  int warpgroups;     // of a block; a warpgroup is 4 warps
  int slots;          // slices that a block holds in shared memory: at least 2, or all of a group

  constexpr int windows() const { return warpgroups * 4 * row_groups * 16; }
};

// The shape for a device whose blocks have at most `shared_bytes` of shared memory; no warpgroups:
// it is too little.
LateShape choose_late_shape(Size window, int tree_nodes, int shared_bytes);
int shared_bytes_of(const LateShape& shape, const SliceLayout& layout);

struct LateTask {
  View<const std::uint8_t> atlas;  // rows begin on 4-byte boundaries
  const EvaluateLevel* levels;     // of the pyramid
  WindowQueue in;
  WindowQueue out;                 // of the next group; without memory if this is the last one
  Candidate* candidates;           // of the last group
  std::uint32_t* candidate_count;  // may exceed the capacity
  std::uint32_t capacity;
  const uint4* slices;  // of the group
  std::int32_t slice_count;
  SliceLayout layout;
  WindowBytes bytes;
  Size window;
  LateShape shape;
  bool by_warpgroup;  // multiply_by_warpgroup(): see can_multiply_by_warpgroup()
};

// Whether the current device can, and this build has the code.
bool can_multiply_by_warpgroup();

// Enqueues one launch, for one group of stages. Survivors are appended in no particular order.
void enqueue_late_stages(const LateTask& task, StreamHandle stream);

}  // namespace facesat::gpu
