// The stages of a cascade that are evaluated on tensor cores, on a device or on the host.
#pragma once

#include <cstring>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/cascade/evaluate.hpp"
#include "kernels/cascade/late_division.hpp"
#include "kernels/cascade/late_stages.hpp"
#include "tests/kit/device_memory.hpp"

namespace facesat::test {

constexpr std::uint32_t poison = 0xDEADBEEF;

// Which stages are evaluated on tensor cores.
struct Late {
  gpu::LateDivision division;
  std::uint32_t capacity;  // of the queues
};

template <class T>
std::vector<T> values_of(const std::vector<std::byte>& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

// The stages for tensor cores, compiled and in device memory, with their lists and queues.
class UploadedLate {
 public:
  UploadedLate(const Cascade& cascade, const Late& late, int shared_bytes, bool by_warpgroup)
      : products_(gpu::compile_products(cascade)),
        by_tiles_(late.division.by_tiles),
        by_windows_(late.division.by_windows),
        capacity_(late.capacity),
        shared_bytes_(shared_bytes),
        by_warpgroup_(by_warpgroup),
        window_(cascade.window),
        weights_(values_of<uint4>(products_.weights)),
        trees_(values_of<uint4>(products_.trees)),
        states_(std::vector<gpu::QueueState>(by_windows_.size(), {0, 0})),
        tickets_(std::vector<gpu::TileTickets>{{0, 0}}) {
    for (std::size_t g = 0; g < by_windows_.size(); ++g) queues_.emplace_back(unused());
    if (!by_tiles_.empty()) by_tiles_.push_back(by_windows_.front());
    by_windows_.push_back(static_cast<int>(cascade.stages.size()));
  }

  // Makes the early stages of `tiles` tiles end where others begin.
  void set(gpu::EvaluateTask& task, std::size_t tiles, View<const std::uint8_t> atlas) {
    task.late = queue(0);
    task.early_stages = by_tiles_.empty() ? by_windows_.front() : by_tiles_.front();
    task.atlas_pitch = static_cast<std::uint32_t>(atlas.pitch);
    if (by_tiles_.empty()) return;
    lists_ = std::make_unique<DeviceArray<gpu::LateWindow>>(
        std::vector<gpu::LateWindow>(tiles * gpu::tile_windows, {poison, 0}));
    list_counts_ =
        std::make_unique<DeviceArray<std::uint32_t>>(std::vector<std::uint32_t>(tiles, poison));
    task.lists = {lists_->data(), list_counts_->data()};
  }

  // Evaluates what the early stages have left. Expects that all queues are empty then.
  void enqueue(const gpu::EvaluateTask& early, std::size_t tiles, const gpu::LevelGroup& levels,
               const gpu::PatchLayout (&layout)[2], View<const std::uint8_t> atlas) {
    const auto* const weights = reinterpret_cast<const std::byte*>(weights_.data());
    const auto* const trees = reinterpret_cast<const std::byte*>(trees_.data());
    for (std::size_t g = 0; g + 1 < by_tiles_.size(); ++g) {
      gpu::TileTask task = gpu::tile_task(products_, layout, weights, trees, by_tiles_[g],
                                          by_tiles_[g + 1], shared_bytes_);
      EXPECT_GT(task.shape.warpgroups, 0);
      task.atlas = atlas;
      task.levels = early.levels;
      task.tiles = early.tiles;
      task.tile_count = static_cast<std::uint32_t>(tiles);
      task.lists = early.lists;
      if (g + 2 == by_tiles_.size()) task.out = queue(0);
      task.tickets = tickets_.data();
      task.by_warpgroup = by_warpgroup_;
      gpu::enqueue_tile_stages(task, test_stream());
    }
    const gpu::TileTickets tickets = tickets_.download()[0];
    EXPECT_EQ(tickets.next, 0u);
    EXPECT_EQ(tickets.finished, 0u);
    for (std::size_t g = 0; g < queues_.size(); ++g) {
      gpu::WindowTask task =
          gpu::products_task(products_, weights, trees, by_windows_[g], by_windows_[g + 1]);
      task.atlas = atlas;
      task.levels = early.levels;
      task.first_level = levels.first;
      task.level_count = levels.count;
      task.in = queue(g);
      task.out = queue(g + 1);
      task.candidates = early.candidates;
      task.candidate_count = early.candidate_count;
      task.capacity = early.capacity;
      task.window = window_;
      task.shape = gpu::choose_window_shape(task.layout, task.bundles, shared_bytes_);
      EXPECT_GT(task.shape.warpgroups, 0);
      task.by_warpgroup = by_warpgroup_;
      gpu::enqueue_window_stages(task, test_stream());
    }
    for (const gpu::QueueState& state : states_.download()) {
      EXPECT_EQ(state.count, 0u);
      EXPECT_EQ(state.finished, 0u);
    }
    for (DeviceArray<gpu::LateWindow>& queue : queues_) {
      for (const gpu::LateWindow& window : queue.download()) went_through += window.id != poison;
      queue.upload(unused());
    }
  }

  std::size_t went_through = 0;  // windows of all queues

 private:
  std::vector<gpu::LateWindow> unused() const {
    return std::vector<gpu::LateWindow>(capacity_, {poison, -1});
  }
  // The queue before a group by windows; none after the last.
  gpu::WindowQueue queue(std::size_t group) {
    if (group == queues_.size()) return {};
    return {queues_[group].data(), states_.data() + group, capacity_};
  }

  gpu::CompiledProducts products_;
  // The first stages of groups, and where the last one ends.
  std::vector<int> by_tiles_, by_windows_;
  std::uint32_t capacity_;
  int shared_bytes_;
  bool by_warpgroup_;
  Size window_;
  DeviceArray<uint4> weights_, trees_;
  std::vector<DeviceArray<gpu::LateWindow>> queues_;
  DeviceArray<gpu::QueueState> states_;
  std::unique_ptr<DeviceArray<gpu::LateWindow>> lists_;
  std::unique_ptr<DeviceArray<std::uint32_t>> list_counts_;
  DeviceArray<gpu::TileTickets> tickets_;
};

}  // namespace facesat::test
