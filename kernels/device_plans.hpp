// What the kernels need besides pictures and the cascade to process frames of one size, in device
// memory.
#pragma once

#include <vector>

#include "kernels/cascade/evaluate.hpp"
#include "kernels/cascade/group_windows.hpp"
#include "kernels/device/packed_arrays.hpp"
#include "kernels/image/resize.hpp"

namespace facesat::gpu {

class DevicePlans {
 public:
  // Plans the resizes and the boxes, and enqueues the transfer of all plans. The device must no
  // longer use what was loaded before.
  void load(const Pyramid& pyramid, const AtlasPlan& atlas, const EvaluatePlan& evaluate,
            cudaStream_t stream) {
    arrays_.clear();
    resizes_.clear();
    for (const LevelGroup& group : atlas.groups) {
      const ResizePlan plan = plan_resize(pyramid, atlas, group);
      resizes_.push_back({arrays_.add(plan.levels), arrays_.add(plan.taps), arrays_.add(plan.tiles),
                          static_cast<int>(plan.tiles.size())});
    }
    levels_ = arrays_.add(evaluate.levels);
    tiles_ = arrays_.add(evaluate.tiles);
    boxes_ = arrays_.add(plan_boxes(pyramid));
    arrays_.upload(stream);
  }

  // Of a group of levels: those that share an atlas (see atlas.hpp).
  DeviceResizePlan resize(int group) const {
    const Resize& plan = resizes_[group];
    return {arrays_.at<ResizeLevel>(plan.levels), arrays_.at<FourTaps>(plan.taps),
            arrays_.at<ResizeTile>(plan.tiles), plan.tile_count};
  }
  const EvaluateLevel* levels() const { return arrays_.at<EvaluateLevel>(levels_); }
  const EvaluateTile* tiles() const { return arrays_.at<EvaluateTile>(tiles_); }
  const BoxLevel* boxes() const { return arrays_.at<BoxLevel>(boxes_); }

 private:
  // Places in arrays_.
  struct Resize {
    std::size_t levels, taps, tiles;
    int tile_count;
  };

  PackedArrays arrays_;
  std::vector<Resize> resizes_;
  std::size_t levels_ = 0, tiles_ = 0, boxes_ = 0;
};

}  // namespace facesat::gpu
