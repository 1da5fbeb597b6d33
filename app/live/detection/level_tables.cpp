#include "app/live/detection/level_tables.hpp"

#include <algorithm>
#include <utility>

namespace facesat::app {
namespace {

constexpr int plane_count = 3;

}  // namespace

LevelTables::LevelTables(FrameDetector& detector, std::shared_ptr<const Cascade> cascade, int level)
    : cascade_(std::move(cascade)),
      level_(detector.pyramid().levels[level]),
      index_(level),
      image_(detector.pyramid().image),
      planes_({level_.size.width + 1, plane_count * (level_.size.height + 1)}) {
  const auto take = [&](Snapshot picture, int plane) {
    const Image<std::uint32_t> table = detector.backend().snapshot(picture, level);
    put(table.view(), plane, picture == Snapshot::tilted_sum);
  };
  take(Snapshot::sum, 0);
  if (cascade_->kind == FeatureKind::haar) take(Snapshot::squared_sum, 1);
  if (cascade_->has_tilted()) take(Snapshot::tilted_sum, 2);
}

// Row -1 is zero. In column -1 only the tilted integral image has more than zeros: the cone of
// pixels of element (-1, y) enters the picture at the same pixels as that of element (0, y - 1).
void LevelTables::put(View<const std::uint32_t> table, int plane, bool tilted) {
  const int width = table.size.width;
  std::fill_n(planes_.row(plane), width + 1, 0);
  for (int y = 0; y < table.size.height; ++y) {
    std::uint32_t* const row = planes_.row(plane_count * (y + 1) + plane);
    row[0] = tilted && y > 0 ? table.row(y - 1)[0] : 0;
    std::copy_n(table.row(y), width, row + 1);
  }
}

rules::Corner LevelTables::window_around(double x, double y) const {
  const auto nearest = [step = level_.step](double centre, int side, int count) {
    const int pixel = static_cast<int>(centre) - first_centre(side, step);
    return step * std::clamp(pixel / step, 0, count - 1);
  };
  return {nearest(x / across(), cascade_->window.width, level_.grid.width),
          nearest(y / down(), cascade_->window.height, level_.grid.height)};
}

cpu::Layout LevelTables::layout() const {
  return {.row = plane_count * planes_.view().pitch, .tilted = 2 * planes_.view().pitch};
}

const std::uint32_t* LevelTables::window(rules::Corner at) const {
  return planes_.row(plane_count * at.y) + at.x;
}

}  // namespace facesat::app
