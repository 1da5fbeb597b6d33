// The pictures of an atlas, for tests and debug views: the CPU backend itself has no atlas.
#pragma once

#include <cstdint>
#include <vector>

#include "core/backend.hpp"

namespace facesat::cpu {

// How a level is resized.
struct LevelTaps {
  std::vector<ResizeTap> columns, rows;
};

// For each level of the pyramid.
std::vector<LevelTaps> level_taps(const Pyramid& pyramid);

// Backend::snapshot() of all pictures but depths. tilted_sum is empty if there is none.
Image<std::uint32_t> atlas_snapshot(View<const std::uint8_t> gray, const Pyramid& pyramid,
                                    const std::vector<LevelTaps>& levels, bool has_tilted,
                                    Picture picture, int index);

}  // namespace facesat::cpu
