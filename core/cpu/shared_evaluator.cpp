#include "core/cpu/shared_evaluator.hpp"

#include <map>
#include <mutex>

namespace facesat::cpu {

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
      *cascade, {tile_corners.width + window.width - 1, tile_corners.height + window.height - 1});
  const auto made =
      std::make_shared<SharedEvaluator>(SharedEvaluator{shape, make_evaluator(*cascade, shape)});
  all[cascade] = made;
  return made;
}

}  // namespace facesat::cpu
