// Evaluates a cascade, compiled for the layout of the tiles' tables, at every window of a tile.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/cascade.hpp"
#include "core/cpu/tile.hpp"
#include "core/stop.hpp"

namespace facesat::cpu {

// A window that no stage has rejected so far; in the end, one that passed every stage.
struct Survivor {
  int row, column;  // of the tile's grid
  float inverse_deviation;
  double score;  // sum of the last stage; not set until the window passes it
};

// Scratch memory that a thread needs besides the tables. No contents are kept between tiles.
struct EvaluationMemory {
  std::vector<Survivor> survivors;
  std::vector<std::uint32_t> gathered;
  std::vector<float> inverse_deviations;
};

class Evaluator {
 public:
  virtual ~Evaluator() = default;

  // Appends the windows of a tile that pass all stages, in no particular order. With `skip_rule`,
  // the window after one that the first stage rejects is skipped, as in OpenCV. skips[row] says on
  // entry whether the first window of that row of the tile is skipped, and on return whether the
  // first window of that row in the tile to the right is. With a malicious cascade a tile may take
  // minutes, so `meter` counts the work; it throws Stopped if the caller has ended the work.
  virtual void find_windows(const Tile& tile, bool skip_rule, std::uint8_t* skips,
                            EvaluationMemory& memory, std::vector<Survivor>& windows,
                            StopMeter& meter) const = 0;

  // Writes, for every window of one row of the tile, the number of stages that it passes. A
  // low-variance window passes none.
  virtual void depths(const Tile& tile, int row, std::uint32_t* depths, StopMeter& meter) const = 0;
};

// The shape of tiles of at most `pixels`, with the tables that the cascade's features need.
TileShape tile_shape(const Cascade& cascade, Size pixels);

// The evaluator keeps no reference to `cascade`. It takes tiles of the given shape only.
std::unique_ptr<Evaluator> make_evaluator(const Cascade& cascade, const TileShape& shape);

// The evaluators for each kind of features; make_evaluator() chooses among them.
std::unique_ptr<Evaluator> make_haar_evaluator(const Cascade& cascade, const TileShape& shape);
std::unique_ptr<Evaluator> make_lbp_evaluator(const Cascade& cascade, const TileShape& shape);

// ---- evaluators that are shared: compiling a cascade takes as long as evaluating a small picture

struct SharedEvaluator {
  TileShape shape;  // of the tiles that it takes
  std::unique_ptr<const Evaluator> evaluator;
};

// The evaluator of a cascade for tiles with room for `tile_extent`. It is compiled by the first
// call, and kept as long as anybody uses it. May be called by any number of threads at the same
// time.
std::shared_ptr<const SharedEvaluator> shared_evaluator(
    const std::shared_ptr<const Cascade>& cascade);

}  // namespace facesat::cpu
