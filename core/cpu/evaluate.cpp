#include "core/cpu/evaluate.hpp"

#include <map>
#include <mutex>
#include <stdexcept>

namespace facesat::cpu {

TileShape tile_shape(const Cascade& cascade, Size pixels) {
  return {
      .pixels = pixels, .squares = traits_of(cascade.kind).squares, .tilted = cascade.has_tilted()};
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

std::shared_ptr<const SharedEvaluator> shared_evaluator(
    const std::shared_ptr<const Cascade>& cascade) {
  // Neither the cascade nor its evaluator is kept alive by being listed here.
  static std::mutex mutex;
  static std::map<std::weak_ptr<const Cascade>, std::weak_ptr<const SharedEvaluator>,
                  std::owner_less<>>
      all;
  const std::scoped_lock lock(mutex);
  std::erase_if(all, [](const auto& one) { return one.second.expired(); });
  if (const auto known = all.find(cascade); known != all.end())
    if (auto evaluator = known->second.lock()) return evaluator;
  const Size window = cascade->window;
  const TileShape shape = tile_shape(
      *cascade, {tile_extent.width + window.width - 1, tile_extent.height + window.height - 1});
  const auto made =
      std::make_shared<SharedEvaluator>(SharedEvaluator{shape, make_evaluator(*cascade, shape)});
  all[cascade] = made;
  return made;
}

}  // namespace facesat::cpu
