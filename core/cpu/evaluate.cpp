#include "core/cpu/evaluate.hpp"

#include <stdexcept>

namespace facesat::cpu {

TileShape tile_shape(const Cascade& cascade, Size pixels) {
  switch (cascade.kind) {
    case FeatureKind::haar:
      return {.pixels = pixels, .squares = true, .tilted = cascade.has_tilted()};
    case FeatureKind::lbp:
      return {.pixels = pixels, .squares = false, .tilted = false};
  }
  throw std::logic_error("unknown kind of feature");
}

std::unique_ptr<Evaluator> make_evaluator(const Cascade& cascade, const TileShape& shape) {
  switch (cascade.kind) {
    case FeatureKind::haar:
      return make_haar_evaluator(cascade, shape);
    case FeatureKind::lbp:
      return make_lbp_evaluator(cascade, shape);
  }
  throw std::logic_error("unknown kind of feature");
}

}  // namespace facesat::cpu
