// The stages of a cascade that tensor cores evaluate, in device memory, and the lists and queues
// between the kernels that evaluate them: see late_stages.hpp.
#pragma once

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "core/memory.hpp"
#include "kernels/cascade/late_division.hpp"
#include "kernels/cascade/late_stages.hpp"
#include "kernels/device/cuda.hpp"

namespace facesat::gpu {

// Not for use by several frames at once.
class DeviceLateStages {
 public:
  // Of the levels in one atlas, at most.
  struct Amounts {
    std::size_t windows = 0, tiles = 0;
  };

  // Compiles and uploads a cascade, if it can be compiled (product_nodes()) and there is memory.
  // `shared_bytes`: the most that a block of the device may have. Shares the cascade's ownership:
  // while it lives, no other cascade can have its address, which is all that is compared.
  void load(const std::shared_ptr<const Cascade>& model, int shared_bytes, cudaStream_t stream) {
    if (loaded_ == model) return;
    loaded_ = nullptr;
    products_ = {};
    division_ = {};
    shared_bytes_ = shared_bytes;
    by_warpgroup_ = can_multiply_by_warpgroup();
    if (product_nodes(*model)) {
      CompiledProducts products = compile_products(*model);
      try {
        reserve(weights_, products.weights.size());
        reserve(trees_, products.trees.size());
      } catch (const MemoryError&) {
        return;
      }
      products_ = std::move(products);
      window_ = model->window;
      upload(products_.weights, weights_.data(), stream);
      upload(products_.trees, trees_.data(), stream);
      FACESAT_CUDA(cudaStreamSynchronize(stream));
    }
    loaded_ = model;
  }

  // Divides the stages of the loaded cascade, for frames whose levels in one atlas have this many
  // windows and tiles. Groups that the cascade does not have are left out. All stages are early
  // ones if there is no cascade or too little memory.
  void divide(LateDivision division, const Amounts& amounts, const PatchLayout (&tiles)[2],
              cudaStream_t stream) {
    division_ = {};
    if (products_.weights.empty()) return;
    for (std::vector<int>* groups : {&division.by_tiles, &division.by_windows})
      std::erase_if(*groups, [&](int first) { return first >= stage_count(); });
    if (division.empty()) return;
    division_ = std::move(division);
    std::copy(std::begin(tiles), std::end(tiles), tiles_);
    try {
      if (is_possible()) return make_room(amounts, stream);
    } catch (const MemoryError&) {
    }
    division_ = {};
  }

  // The division with the least time, which measure() returns for the current one. Leaves the
  // stages divided so.
  template <class Measure>
  LateDivision divide_fastest(const Amounts& amounts, const PatchLayout (&tiles)[2],
                              cudaStream_t stream, Measure measure) {
    LateDivision fastest;
    double least = std::numeric_limits<double>::infinity();
    for (const LateDivision& division :
         products_.weights.empty() ? std::vector<LateDivision>{} : late_divisions(products_)) {
      divide(division, amounts, tiles, stream);
      if (division_ != division) continue;  // impossible here
      const double time = measure();
      if (time < least) fastest = division_;
      least = std::min(least, time);
    }
    divide(fastest, amounts, tiles, stream);
    if (fastest.empty())
      for (Buffer<LateWindow>& queue : queues_) queue = {};
    return fastest;
  }

  bool empty() const { return division_.empty(); }

  // Makes the early stages end where others begin.
  void set(EvaluateTask& task, View<const std::uint8_t> atlas) const {
    if (empty()) return;
    if (!division_.by_tiles.empty()) task.lists = {queues_[1].data(), list_counts_.data()};
    task.late = queue(0);
    task.early_stages = group(0);
    task.atlas_pitch = static_cast<std::uint32_t>(atlas.pitch);
  }

  // To be enqueued after the early stages of the group's levels, which have `tile_count` tiles.
  void enqueue(const EvaluateTask& early, const LevelGroup& levels, int tile_count,
               View<const std::uint8_t> atlas, cudaStream_t stream) const {
    const auto by_tiles = static_cast<int>(division_.by_tiles.size());
    for (int g = 0; g < group_count(); ++g)
      if (g < by_tiles)
        enqueue_by_tiles(g, early, tile_count, atlas, stream);
      else
        enqueue_by_windows(g, early, levels, atlas, stream);
  }

 private:
  int group_count() const {
    return static_cast<int>(division_.by_tiles.size() + division_.by_windows.size());
  }
  // The first stage of a group, those by tiles first; the number of stages after the last.
  int group(int index) const {
    const auto by_tiles = static_cast<int>(division_.by_tiles.size());
    return index < by_tiles        ? division_.by_tiles[index]
           : index < group_count() ? division_.by_windows[index - by_tiles]
                                   : stage_count();
  }

  bool is_possible() const {
    const auto by_tiles = static_cast<int>(division_.by_tiles.size());
    for (int g = 0; g < group_count(); ++g)
      if ((g < by_tiles ? tile_task_of(g).shape.warpgroups : shape_of(g).warpgroups) == 0)
        return false;
    return true;
  }

  // If windows come from the early stages, most are rejected there, and if too many are not,
  // evaluate.cu goes on with them. The stages by tiles hand over all that they do not reject. The
  // tiles' lists lie where the second queue will be.
  void make_room(const Amounts& amounts, cudaStream_t stream) {
    constexpr std::size_t least = 1 << 14, share = 4;
    const bool has_lists = !division_.by_tiles.empty();
    const std::size_t capacity =
        has_lists ? amounts.tiles * tile_windows : std::max(least, amounts.windows / share);
    for (Buffer<LateWindow>& queue : queues_) reserve(queue, capacity);
    reserve(states_, division_.by_windows.size());
    FACESAT_CUDA(cudaMemsetAsync(states_.data(), 0, states_.bytes(), stream));
    capacity_ = static_cast<std::uint32_t>(capacity);
    if (!has_lists) return;
    reserve(list_counts_, amounts.tiles);
    reserve(tickets_, 1);
    FACESAT_CUDA(cudaMemsetAsync(tickets_.data(), 0, tickets_.bytes(), stream));
  }

  int stage_count() const { return static_cast<int>(products_.first_bundle.size()) - 1; }

  TileTask tile_task_of(int g) const {
    return tile_task(products_, tiles_, weights_.data(), trees_.data(), group(g), group(g + 1),
                     shared_bytes_);
  }
  void enqueue_by_tiles(int g, const EvaluateTask& early, int tile_count,
                        View<const std::uint8_t> atlas, cudaStream_t stream) const {
    TileTask task = tile_task_of(g);
    task.atlas = atlas;
    task.levels = early.levels;
    task.tiles = early.tiles;
    task.tile_count = static_cast<std::uint32_t>(tile_count);
    task.lists = early.lists;
    if (g + 1 == static_cast<int>(division_.by_tiles.size())) task.out = queue(0);
    task.tickets = tickets_.data();
    task.by_warpgroup = by_warpgroup_;
    enqueue_tile_stages(task, stream);
  }

  WindowShape shape_of(int g) const {
    return choose_window_shape(
        products_.layout, products_.first_bundle[group(g + 1)] - products_.first_bundle[group(g)],
        shared_bytes_);
  }
  void enqueue_by_windows(int g, const EvaluateTask& early, const LevelGroup& levels,
                          View<const std::uint8_t> atlas, cudaStream_t stream) const {
    const std::size_t index = static_cast<std::size_t>(g) - division_.by_tiles.size();
    WindowTask task =
        products_task(products_, weights_.data(), trees_.data(), group(g), group(g + 1));
    task.atlas = atlas;
    task.levels = early.levels;
    task.first_level = levels.first;
    task.level_count = levels.count;
    task.in = queue(index);
    if (g + 1 < group_count()) task.out = queue(index + 1);
    task.candidates = early.candidates;
    task.candidate_count = early.candidate_count;
    task.capacity = early.capacity;
    task.window = window_;
    task.shape = shape_of(g);
    task.by_warpgroup = by_warpgroup_;
    enqueue_window_stages(task, stream);
  }

  // The queue before a group by windows. Two are enough, because a kernel reads one and writes the
  // other.
  WindowQueue queue(std::size_t index) const {
    return {queues_[index % 2].data(), states_.data() + index, capacity_};
  }

  std::shared_ptr<const Cascade> loaded_;
  CompiledProducts products_;
  LateDivision division_;
  PatchLayout tiles_[2];  // for step 1 and 2
  int shared_bytes_ = 0;
  bool by_warpgroup_ = false;
  Size window_;
  std::uint32_t capacity_ = 0;
  Buffer<std::byte> weights_, trees_;
  Buffer<LateWindow> queues_[2];
  Buffer<QueueState> states_;
  Buffer<std::uint32_t> list_counts_;
  Buffer<TileTickets> tickets_;
};

}  // namespace facesat::gpu
