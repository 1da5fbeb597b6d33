// tile -> windows: the cascade, compiled for the layout of the tiles' tables.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/cascade.hpp"
#include "core/cpu/tile.hpp"
#include "core/stop.hpp"

namespace facesat::cpu {

// A window that has passed all stages evaluated so far; in the end, one that passed every stage.
struct Candidate {
  int row, column;  // of the tile's grid
  float inverse_deviation;
  double score;  // sum of the last stage; not set until the window passes it
};

// Scratch memory that a thread needs besides the tables. No contents are kept between tiles.
struct EvaluationMemory {
  std::vector<Candidate> candidates;
  std::vector<std::uint32_t> patch;
  std::vector<float> inverse_deviations;
};

class Evaluator {
 public:
  virtual ~Evaluator() = default;

  // Appends the windows of a tile that pass, in no particular order. skip_rule: after a window that
  // the first stage rejects, the next one in its row is skipped, as in OpenCV. skips[row]: on
  // entry, whether the tile's first window is skipped; on return, whether that of the tile to the
  // right is. With a malicious cascade a tile may take minutes: `meter` counts the work, and may
  // throw.
  virtual void scan(const Tile& tile, bool skip_rule, std::uint8_t* skips, EvaluationMemory& memory,
                    std::vector<Candidate>& windows, StopMeter& meter) const = 0;

  // For every window of a row of the tile, the number of stages passed (0 for low-variance windows
  // too).
  virtual void depths(const Tile& tile, int row, std::uint32_t* depths, StopMeter& meter) const = 0;
};

// A tile of at most that many pixels, with the tables that the cascade's features need.
TileShape tile_shape(const Cascade& cascade, Size pixels);

// `cascade` is not used after the call. Tiles must have this shape.
std::unique_ptr<Evaluator> make_evaluator(const Cascade& cascade, const TileShape& shape);

// Evaluators of one kind of features each.
std::unique_ptr<Evaluator> make_haar_evaluator(const Cascade& cascade, const TileShape& shape);
std::unique_ptr<Evaluator> make_lbp_evaluator(const Cascade& cascade, const TileShape& shape);

}  // namespace facesat::cpu
