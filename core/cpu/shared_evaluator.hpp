// Evaluators that are shared: compiling a cascade takes as long as evaluating a small picture.
#pragma once

#include <memory>

#include "core/cpu/evaluate.hpp"

namespace facesat::cpu {

struct SharedEvaluator {
  TileShape shape;  // of the tiles that it takes
  std::unique_ptr<const Evaluator> evaluator;
};

// The evaluator of a cascade for tiles with room for `tile_corners`. It is compiled by the first
// call, and kept as long as anybody uses it. May be called by any number of threads at the same
// time.
std::shared_ptr<const SharedEvaluator> shared_evaluator(
    const std::shared_ptr<const Cascade>& cascade);

}  // namespace facesat::cpu
