// Places the levels of a pyramid in an atlas: one 8-bit picture that holds them all, so that one
// integral image (summed area table) serves them all. A pyramid too large for one atlas is divided
// into groups with an atlas each. Pure arithmetic, without CUDA headers.
#pragma once

#include <cstddef>
#include <vector>

#include "core/pyramid.hpp"

namespace facesat::gpu {

// Levels first .. first + count - 1 lie in one atlas.
struct LevelGroup {
  int first = 0, count = 0;
  Size atlas;
};

struct AtlasPlan {
  struct Place {
    int group = 0;     // which atlas
    int x = 0, y = 0;  // of the level's first pixel; x is a multiple of 16
  };
  std::vector<Place> places;  // of each level
  std::vector<LevelGroup> groups;

  // A level's rectangle in its atlas.
  Rect rectangle(const Pyramid& pyramid, int level) const {
    const Size size = pyramid.levels[level].size;
    return {places[level].x, places[level].y, size.width, size.height};
  }

  // A size that holds every group's atlas. All atlases have this width.
  Size largest() const;
};

constexpr std::size_t max_atlas_pixels = std::size_t{1} << 28;  // 1 GiB per 32-bit table

// Levels are grouped in their order so that an atlas has at most `max_pixels`, unless one level
// alone has more.
AtlasPlan plan_atlas(const Pyramid& pyramid, std::size_t max_pixels = max_atlas_pixels);

}  // namespace facesat::gpu
