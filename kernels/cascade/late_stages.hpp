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

// How many windows a block multiplies at once, and with how many slices in shared memory.
struct LateShape {
  int row_groups;  // each warp has this many groups of 16 windows: 1 or 2
  int warpgroups;  // of a block; a warpgroup is 4 warps
  int slots;       // for slices: all of a group, or 2, through which they pass

  constexpr int windows() const { return warpgroups * 4 * row_groups * 16; }
};

// How many groups of columns a slice should have on a device whose blocks have at most
// `shared_bytes` of shared memory. 0: that is too little.
int choose_column_groups(Size window, int tree_nodes, int shared_bytes);

// The shape for a group of so many slices on such a device.
LateShape choose_late_shape(const SliceLayout& layout, int slices, int shared_bytes);

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
