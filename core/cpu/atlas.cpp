#include "core/cpu/atlas.hpp"

#include <algorithm>
#include <cstring>

#include "core/cpu/integral.hpp"
#include "core/cpu/resize.hpp"
#include "core/memory.hpp"
#include "core/table.hpp"

namespace facesat::cpu {
namespace {

template <class T>
Image<std::uint32_t> widened(View<const T> from) {
  Image<std::uint32_t> to(from.size);
  for (int y = 0; y < from.size.height; ++y) std::copy_n(from.row(y), from.size.width, to.row(y));
  return to;
}

// The levels of a group in their places, with zeros between them.
Image<std::uint8_t> atlas_of(View<const std::uint8_t> gray, const Pyramid& pyramid,
                             const std::vector<LevelTaps>& taps, const LevelGroup& group) {
  Image<std::uint8_t> atlas(group.atlas);
  for (int y = 0; y < group.atlas.height; ++y) std::memset(atlas.row(y), 0, group.atlas.width);
  for (int i = group.first; i < group.first + group.count; ++i) {
    const Level& level = pyramid.levels[i];
    resize(gray, atlas.view().sub({level.x, level.y, level.size.width, level.size.height}),
           taps[i].columns, taps[i].rows);
  }
  return atlas;
}

}  // namespace

std::vector<LevelTaps> level_taps(const Pyramid& pyramid) {
  std::vector<LevelTaps> all;
  for (const Level& level : pyramid.levels) {
    LevelTaps& taps = all.emplace_back();
    taps.columns.resize(level.size.width);
    taps.rows.resize(level.size.height);
    resize_taps(pyramid.image.width, taps.columns);
    resize_taps(pyramid.image.height, taps.rows);
  }
  return all;
}

Image<std::uint32_t> atlas_snapshot(View<const std::uint8_t> gray, const Pyramid& pyramid,
                                    const std::vector<LevelTaps>& levels, bool has_tilted,
                                    Picture picture, int index) {
  if (picture == Picture::gray) return widened(gray);
  if (picture == Picture::tilted_sum && !has_tilted) return {};
  const Level& level = pyramid.levels[index];
  const LevelGroup& group = pyramid.groups[level.group];
  const Rect place{level.x, level.y, level.size.width, level.size.height};
  require_memory(group.atlas.area() + 2 * Table::bytes(group.atlas), "this view");
  const Image<std::uint8_t> atlas = atlas_of(gray, pyramid, levels, group);
  if (picture == Picture::level) return widened(atlas.view().sub(place));
  Table sum, other;
  sum.resize(group.atlas);
  other.resize(group.atlas);
  if (picture == Picture::tilted_sum)
    tilted_integral(atlas.view(), other.view());
  else
    integral(atlas.view(), sum.view(), other.view());
  return widened(std::as_const(picture == Picture::sum ? sum : other).view().sub(place));
}

}  // namespace facesat::cpu
