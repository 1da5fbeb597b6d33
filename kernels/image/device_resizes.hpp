// The resize plans of all groups of levels, in device memory. A group is the levels that share an
// atlas, the picture that holds them (see atlas.hpp).
#pragma once

#include <vector>

#include "kernels/device/cuda.hpp"
#include "kernels/image/resize.hpp"

namespace facesat::gpu {

class DeviceResizes {
 public:
  // Plans and uploads; returns when the device has everything.
  void load(const Pyramid& pyramid, const AtlasPlan& atlas, cudaStream_t stream) {
    plans_.clear();
    std::vector<ResizePlan> plans;
    std::size_t level_count = 0, tap_count = 0, tile_count = 0;
    for (const LevelGroup& group : atlas.groups) {
      plans.push_back(plan_resize(pyramid, atlas, group));
      level_count += plans.back().levels.size();
      tap_count += plans.back().taps.size();
      tile_count += plans.back().tiles.size();
    }
    reserve(levels_, level_count);
    reserve(taps_, tap_count);
    reserve(tiles_, tile_count);
    ResizeLevel* levels = levels_.data();
    PackedTap* taps = taps_.data();
    ResizeTile* tiles = tiles_.data();
    for (const ResizePlan& plan : plans) {
      upload(plan.levels, levels, stream);
      upload(plan.taps, taps, stream);
      upload(plan.tiles, tiles, stream);
      plans_.push_back({levels, taps, tiles, static_cast<int>(plan.tiles.size())});
      levels += plan.levels.size();
      taps += plan.taps.size();
      tiles += plan.tiles.size();
    }
    FACESAT_CUDA(cudaStreamSynchronize(stream));  // the copies read from the vectors above
  }

  const DeviceResizePlan& operator[](int group) const { return plans_[group]; }

 private:
  std::vector<DeviceResizePlan> plans_;
  Buffer<ResizeLevel> levels_;
  Buffer<PackedTap> taps_;
  Buffer<ResizeTile> tiles_;
};

}  // namespace facesat::gpu
