// A cascade compiled for the three layouts of integral images from which its windows are read:
// tiles with a window at every pixel, tiles with a window at every second pixel, and patches.
#pragma once

#include <vector>

#include "core/cpu/evaluate.hpp"
#include "core/cpu/trees.hpp"

namespace facesat::cpu {

// A patch holds the table corners of `patch_windows` windows from anywhere in a tile, interleaved:
// element (x, y, window) lies at offset(x, y) + window.
inline constexpr int patch_windows = 16;
inline Layout patch_layout(Size window, bool tilted) {
  Layout layout{.column = patch_windows};
  layout.row = (window.width + 1) * layout.column;
  layout.tilted = tilted ? (window.height + 1) * layout.row : 0;
  return layout;
}

// Normalisation computes the inverse standard deviations of windows, and rejects low-variance
// windows; see evaluate_haar.cpp.
template <class Test, class Normalisation>
struct Compiled {
  // The windows that survive are gathered into patches after about `nodes_before_gathering` nodes,
  // and again after every further `nodes_between`. By then so few are left that a patch costs less
  // than the lanes lost to rejected windows.
  static constexpr int nodes_before_gathering = 190, nodes_between = 500;
  // Patches of larger windows (in pixels) are not in any cache, and would cost more than they save.
  static constexpr std::size_t largest_gathered = 1 << 16;

  Size window;
  Trees<Test> every_pixel, every_second, patch;  // step 1; step 2; gathered windows
  Normalisation normalisation[2];                // indexed by step - 1
  // A leg is the stages from one gathering to the next. The elements are the first stages of all
  // legs but the first, and stage_count().
  std::vector<int> legs;
  int first_leg_nodes = 0;  // of the first leg's stages, except walked ones (see Trees::Stage)

  Compiled(const Cascade& cascade, const TileShape& shape)
      : window(cascade.window),
        every_pixel(cascade, shape.layout(1)),
        every_second(cascade, shape.layout(2)),
        patch(cascade, patch_layout(cascade.window, shape.tilted)),
        normalisation{{cascade.window, shape.layout(1)}, {cascade.window, shape.layout(2)}} {
    int nodes = 0, limit = nodes_before_gathering;
    for (int s = 0; s < patch.stage_count(); ++s) {
      const auto& stage = patch.stages[s];
      if (s > 0 && nodes >= limit && window.area() <= largest_gathered) {
        legs.push_back(s);
        limit = nodes + nodes_between;
      }
      nodes += stage.node_count;
      if (legs.empty() && !stage.walked) first_leg_nodes += stage.node_count;
    }
    legs.push_back(patch.stage_count());
  }

  const Trees<Test>& trees(const Tile& tile) const {
    return tile.step == 1 ? every_pixel : every_second;
  }

  // Evaluator::depths(), one window after the other.
  void depths(const Tile& tile, int row, std::uint32_t* depths, StopMeter& meter) const {
    for (int column = 0; column < tile.grid.width; ++column) {
      const std::uint32_t* const at = tile.window(column, row);
      const float inverse = normalisation[tile.step - 1].inverse_deviation(at, tile.squares);
      depths[column] = inverse == 0 ? 0 : trees(tile).depth(at, inverse, meter);
    }
  }
};

// `scan_tile` is Evaluator::scan() with the cascade as its first argument, dispatched to the
// processor's instruction set.
template <class Model, auto scan_tile>
class CompiledEvaluator final : public Evaluator {
 public:
  CompiledEvaluator(const Cascade& cascade, const TileShape& shape) : cascade_(cascade, shape) {}

  void scan(const Tile& tile, bool skip_rule, std::uint8_t* skips, EvaluationMemory& memory,
            std::vector<Candidate>& windows, StopMeter& meter) const override {
    scan_tile(cascade_, tile, skip_rule, skips, memory, windows, meter);
  }
  void depths(const Tile& tile, int row, std::uint32_t* depths, StopMeter& meter) const override {
    cascade_.depths(tile, row, depths, meter);
  }

 private:
  Model cascade_;
};

}  // namespace facesat::cpu
