// tile -> windows: the cascade, compiled for the layout of the tiles' tables.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/cascade.hpp"
#include "core/cpu/tile.hpp"
#include "core/stop.hpp"

namespace facesat::cpu {

// A window that has come so far; at last one that passed every stage.
struct Candidate {
  int row, column;  // of the tile's grid
  float inverse_deviation;
  double score;  // sum of the last stage; not set before it is passed
};

// What a thread needs beside the tables. Its contents mean nothing from one tile to the next.
struct EvaluationMemory {
  std::vector<Candidate> candidates;
  std::vector<std::uint32_t> patch;
  std::vector<float> inverse_deviations;
};

class Evaluator {
 public:
  virtual ~Evaluator() = default;

  // Appends the windows of a tile that pass, in no particular order. skip_rule: a window that the
  // first stage rejects lets the next one of its row be skipped, as in OpenCV; skips[row] tells
  // whether the tile's first window is skipped, and then whether that of the tile to the right is.
  // A tile may take minutes with a cascade made for that: `meter` counts the work, and may throw.
  virtual void scan(const Tile& tile, bool skip_rule, std::uint8_t* skips, EvaluationMemory& memory,
                    std::vector<Candidate>& windows, StopMeter& meter) const = 0;

  // For every window of a row of the tile, the number of stages passed (0 for low-variance windows
  // too).
  virtual void depths(const Tile& tile, int row, std::uint32_t* depths, StopMeter& meter) const = 0;
};

// A tile of at most that many pixels, with the tables that the cascade's features ask for.
TileShape tile_shape(const Cascade& cascade, Size pixels);

// `cascade` is read only here. Tiles must be of this shape.
std::unique_ptr<Evaluator> make_evaluator(const Cascade& cascade, const TileShape& shape);

// Of one kind of features each.
std::unique_ptr<Evaluator> make_haar_evaluator(const Cascade& cascade, const TileShape& shape);
std::unique_ptr<Evaluator> make_lbp_evaluator(const Cascade& cascade, const TileShape& shape);

}  // namespace facesat::cpu
