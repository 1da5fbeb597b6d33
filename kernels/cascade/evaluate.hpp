// Evaluates the cascade at every window of a group of levels, in one launch: from integral images
// to candidates. A group is the levels that share an atlas (see atlas.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/image.hpp"
#include "core/pyramid.hpp"
#include "kernels/cascade/compiled_cascade.hpp"
#include "kernels/device/platform.hpp"
#include "kernels/image/atlas.hpp"

namespace facesat::gpu {

// A window that passed every stage.
struct Candidate {
  std::int64_t sum;    // of the last stage; score_of() converts it; greater for a greater score
  std::uint32_t cell;  // y * grid.width + x, for column x and row y of the level's grid of windows
  std::int32_t level;  // index into Pyramid::levels
};

// A level as the kernels need it. Which windows the first stage rejects is stored in bits: one
// 32-bit word per tile and row of windows, row by row, from `first_word` on.
struct EvaluateLevel {
  std::int32_t x, y;  // place in the atlas
  std::int32_t step, grid_width, grid_height;
  std::int32_t tiles_across, first_word;
};

// A block's work: a tile of a level; column and row are counted in tiles.
struct EvaluateTile {
  std::uint64_t level : 20;  // index into Pyramid::levels
  std::uint64_t column : 20, row : 24;
};

// Shared memory of a block: a static part, and the patch of a tile, limited so that
// `blocks_per_multiprocessor` blocks run on a multiprocessor.
constexpr int blocks_per_multiprocessor = 4;
constexpr int evaluate_static_bytes = 16 << 10;
constexpr int target_patch_bytes = 40 << 10;
static_assert(blocks_per_multiprocessor * (target_patch_bytes + evaluate_static_bytes) <= 227 << 10,
              "the blocks of a multiprocessor share 227 KiB on compute capability 9.0");

// How many bytes of nodes are launch parameters: those of the first stages, which most windows
// reach. Parameters are read through the constant cache, which broadcasts a word to all lanes of a
// warp, while a load from shared or global memory moves one word per lane. Two cascades (one for
// each step) must fit into the 32,764 bytes that a launch takes.
constexpr int parameter_bytes = 14080;
static_assert(parameter_bytes % sizeof(HaarNode) == 0 && parameter_bytes % sizeof(LbpNode) == 0,
              "no byte of the parameters is wasted");

// A cascade compiled for levels of one step (the distance in pixels between windows). Pointers are
// to device memory; see CompiledCascade for what they point to.
struct StepCascade {
  PatchLayout layout;
  std::int32_t parameter_stages;  // stages that have all their nodes in the next member
  alignas(16) std::byte first_nodes[parameter_bytes];
  const void* nodes;  // of the cascade's kind
  const GeneralFeature* general;
  const std::int32_t* roots;
  const std::int64_t* leaves;
  const CompiledStage* stages;
  std::int32_t stage_count;
  std::int64_t normalised_area, min_spread;
  std::uint32_t normalised_corners[4];
};

// All members except the pointers.
StepCascade describe(const CompiledCascade& compiled, const PatchLayout& layout);

// ---- windows on their way from one kernel to the next ----

// A window that passed some stages of a Haar cascade.
struct alignas(8) LateWindow {
  // In a queue, the offset of its first pixel in the atlas; in a tile's list, its number in the
  // tile, row by row (see patch_layout.hpp).
  std::uint32_t id;
  float inverse_deviation;  // 1 / (area * standard deviation); 0: no window
};

// Zero before the first use; the kernel that reads the queue leaves it so.
struct QueueState {
  std::uint32_t count;  // of windows; may exceed the capacity, up to which the queue is then filled
  std::uint32_t finished;  // blocks of the reading kernel
};

struct WindowQueue {
  LateWindow* windows;  // null: there is no queue
  QueueState* state;
  std::uint32_t capacity;
};

// The windows of each tile of a launch that have not been rejected so far, in any order.
struct TileLists {
  LateWindow* windows;  // tile i's begin at i * tile_windows; null: there are no lists
  std::uint32_t* counts;
};

// ---- tasks and plans ----

struct EvaluateTask {
  // Tables of one size and pitch (elements); squared_sum is not needed for LBP, tilted_sum only for
  // tilted features. See SatTask for their layout; besides, rows begin on 16-byte boundaries and
  // can be read from four elements before them to a multiple of four.
  View<const std::uint32_t> sum, squared_sum, tilted_sum;
  StepCascade cascade[2];       // for levels of step 1 and 2
  Size inner;                   // of the rectangle whose variance normalises a window
  const EvaluateLevel* levels;  // of the pyramid
  const EvaluateTile* tiles;    // of the launch
  bool skips;                   // the skip rule will be applied, so `rejected` must be written
  std::uint32_t* rejected;      // bits of the windows that the first stage rejects, of all levels
  Candidate* candidates;
  std::uint32_t* candidate_count;  // may exceed the capacity
  std::uint32_t capacity;
  // Without lists and without a queue, all stages are evaluated here. Otherwise, windows that pass
  // the first `early_stages` stages (at least 1, not all) go to their tile's list, if there are
  // lists, or else to the queue; those of tiles that find it full are evaluated here, too.
  TileLists lists;
  WindowQueue late;
  std::int32_t early_stages;
  std::uint32_t atlas_pitch;  // only needed for the queue
  // Stages passed, per cell of a level; null: not wanted. Requires that all tiles are of one level,
  // and that there are neither lists nor a queue.
  std::uint32_t* depths;
};

static_assert(sizeof(EvaluateTask) <= 32764, "a launch takes no more bytes of parameters");

// Layouts and tiles for a pyramid and cascade.
struct EvaluatePlan {
  PatchLayout layout[2];  // for step 1 and 2
  std::vector<EvaluateLevel> levels;
  std::vector<EvaluateTile> tiles;  // level by level
  std::vector<int> first_tile;      // of each level, and one past the last
  std::size_t words = 0;            // of EvaluateTask::rejected

  // Tiles of `count` levels from `first` on.
  int tile_count(int first, int count) const {
    return first_tile[first + count] - first_tile[first];
  }
};
EvaluatePlan plan_evaluate(const Pyramid& pyramid, const AtlasPlan& atlas, const Cascade& cascade);

// Bytes of shared memory that the smallest tile of this cascade needs, besides the static ones.
int min_shared_bytes(const Cascade& cascade);

// Enqueues one launch for `tiles` tiles. The task's cascades must be made from the same cascade as
// `compiled`, which tells which kernel to launch. Candidates are appended in no particular order.
void enqueue_evaluate(const EvaluateTask& task, const CompiledCascade& compiled, int tiles,
                      StreamHandle stream);

}  // namespace facesat::gpu
