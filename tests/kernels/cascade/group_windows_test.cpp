// Uniting windows and adding up classes, against the plainest code, for few and for many windows.
#include "kernels/cascade/group_windows.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <span>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "core/grouping.hpp"
#include "core/pyramid.hpp"
#include "tests/kit/device_memory.hpp"
#include "tests/kit/printers.hpp"

namespace facesat::test {
namespace {

using gpu::Candidate;

enum class Places {
  random,    // anywhere
  clusters,  // most are similar to others
  chain,     // each is similar to the next one only
  far,       // many pixels from the left edge, and similar
};

std::vector<Candidate> some_candidates(const Pyramid& pyramid, std::size_t count, Places places,
                                       std::mt19937& random) {
  const auto upto = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  std::vector<Candidate> candidates;
  std::set<std::pair<int, std::uint32_t>> taken;
  for (int i = 0; candidates.size() < count; ++i) {
    const int level = places == Places::chain || places == Places::far ? 0 : upto(4);
    const Size grid = pyramid.levels[level].grid;
    const int cluster = upto(3) * 13;
    const int x = places == Places::random     ? upto(grid.width)
                  : places == Places::clusters ? std::min(cluster + upto(6), grid.width - 1)
                  : places == Places::far      ? grid.width - 1 - upto(40)
                                               : i * 2 % (grid.width - 1),
              y = places == Places::random || places == Places::far ? upto(grid.height)
                  : places == Places::clusters ? std::min(cluster + upto(6), grid.height - 1)
                                               : i * 2 / (grid.width - 1) * 8;
    const auto cell = static_cast<std::uint32_t>(y * grid.width + x);
    if (!taken.insert({level, cell}).second) {
      if (places != Places::random && taken.size() > 300) places = Places::random;
      continue;
    }
    candidates.push_back({upto(1000) - 500, cell, level});
  }
  std::shuffle(candidates.begin(), candidates.end(), random);
  return candidates;
}

// What a class adds up to: x, y, width, height, the best sum, the count; and level and cell of the
// first window.
using Sums = std::array<std::int64_t, 8>;

// The classes of similar windows, in increasing order.
std::vector<Sums> classes_of(const std::vector<Candidate>& candidates, const Pyramid& pyramid) {
  std::vector<Rect> boxes;
  std::vector<std::size_t> classes;  // of each window, the index of the first one of its class
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const Level& level = pyramid.levels[candidates[i].level];
    const auto width = static_cast<std::uint32_t>(level.grid.width);
    const int x = static_cast<int>(candidates[i].cell % width) * level.step,
              y = static_cast<int>(candidates[i].cell / width) * level.step;
    boxes.push_back(window_in_image(level, pyramid.window, x, y));
    classes.push_back(i);
    for (std::size_t j = 0; j < i; ++j)
      if (classes[j] != classes[i] && are_similar(boxes[i], boxes[j])) {
        const auto [kept, lost] = std::minmax({classes[i], classes[j]});
        std::replace(classes.begin(), classes.end(), lost, kept);
      }
  }
  std::map<std::size_t, Sums> sums;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const Candidate& one = candidates[i];
    const Rect& box = boxes[i];
    const Sums nothing{0, 0, 0, 0, INT64_MIN, 0, one.level, one.cell};
    Sums& of = sums.try_emplace(classes[i], nothing).first->second;
    const auto [level, cell] = std::min(std::pair(of[6], of[7]),
                                        std::pair<std::int64_t, std::int64_t>(one.level, one.cell));
    of = {of[0] + box.x,
          of[1] + box.y,
          of[2] + box.width,
          of[3] + box.height,
          std::max(of[4], one.sum),
          of[5] + 1,
          level,
          cell};
  }
  std::vector<Sums> all;
  for (const auto& [first, of] : sums) all.push_back(of);
  std::sort(all.begin(), all.end());
  return all;
}

class GroupWindows : public ::testing::TestWithParam<Places> {
 protected:
  static constexpr std::uint32_t capacity = 1200;

  void expect_grouped(const std::vector<Candidate>& candidates, std::uint32_t least) {
    const std::string what = std::to_string(candidates.size()) + " windows";
    std::vector<Candidate> all = candidates;
    all.resize(capacity);
    candidates_.upload(all);
    const auto count = static_cast<std::uint32_t>(candidates.size());
    count_.upload({count});
    delivered_.upload(std::vector<gpu::ClassSums>(capacity));
    delivered_counts_.upload({{77, 77, 77}});
    gpu::GroupWindowsTask task{};
    task.evaluated_levels = evaluated_levels_.data();
    task.box_levels = box_levels_.data();
    task.level_count = static_cast<int>(pyramid_.levels.size());
    task.candidates = candidates_.data();
    task.candidate_count = count_.data();
    task.capacity = capacity;
    task.unites = true;
    task.least = least;
    task.found = found_.data();
    task.counts = counts_.data();
    task.level_places = level_places_.data();
    task.level_begins = level_begins_.data();
    task.boxes = boxes_.data();
    task.sums = sums_.data();
    task.first_near = first_near_.data();
    task.parents = parents_.data();
    task.roots = roots_.data();
    task.classes = classes_.data();
    task.delivered_counts = delivered_counts_.data();
    task.delivered = delivered_.data();
    gpu::enqueue_few_windows(task, test_stream());
    if (count > gpu::few_windows) gpu::enqueue_many_windows(task, test_stream());
    EXPECT_EQ(count_.download()[0], 0u) << what;
    const gpu::WindowCounts counts = delivered_counts_.download()[0];
    EXPECT_EQ(counts.windows, count) << what;
    EXPECT_EQ(counts.candidates, count) << what;
    EXPECT_EQ(in_order(found_.download(), count), in_order(candidates, count)) << what;
    const std::vector<gpu::ClassSums> delivered = delivered_.download();
    std::vector<Sums> sums;
    for (const gpu::ClassSums& one : std::span(delivered).first(counts.classes))
      sums.push_back({one.x, one.y, one.width, one.height, one.best, one.count,
                      static_cast<std::int64_t>(one.first >> 32),
                      static_cast<std::int64_t>(one.first & 0xFFFFFFFF)});
    std::sort(sums.begin(), sums.end());
    std::vector<Sums> expected = classes_of(candidates, pyramid_);
    std::erase_if(expected, [&](const Sums& one) { return one[5] < least; });
    EXPECT_EQ(sums, expected) << what;
    for (const gpu::ClassSums& rest : std::span(delivered).subspan(counts.classes))
      EXPECT_EQ(rest.count, 0u) << what;
  }

  // Level, cell and sum of the first `count` windows, sorted.
  static std::vector<std::tuple<int, std::uint32_t, std::int64_t>> in_order(
      const std::vector<Candidate>& windows, std::uint32_t count) {
    std::vector<std::tuple<int, std::uint32_t, std::int64_t>> all;
    for (const Candidate& one : std::span(windows).first(count))
      all.emplace_back(one.level, one.cell, one.sum);
    std::sort(all.begin(), all.end());
    return all;
  }

  const Pyramid pyramid_ =
      plan_pyramid({GetParam() == Places::far ? 150'000 : 150, 120}, {20, 20}, {});
  DeviceArray<gpu::EvaluateLevel> evaluated_levels_{
      std::vector<gpu::EvaluateLevel>(pyramid_.levels.size())};
  DeviceArray<gpu::BoxLevel> box_levels_{gpu::plan_boxes(pyramid_)};
  DeviceArray<Candidate> candidates_{std::vector<Candidate>(capacity)},
      found_{std::vector<Candidate>(capacity)};
  DeviceArray<std::uint32_t> count_{std::vector<std::uint32_t>{0}};
  DeviceArray<gpu::WindowCounts> counts_{std::vector<gpu::WindowCounts>{{77, 77, 77}}},
      delivered_counts_{std::vector<gpu::WindowCounts>{{77, 77, 77}}};
  const std::vector<std::uint32_t> poisoned_ = std::vector<std::uint32_t>(capacity, 0xDEADBEEF);
  DeviceArray<std::uint32_t> level_places_{poisoned_}, level_begins_{poisoned_};
  DeviceArray<std::int64_t> sums_{std::vector<std::int64_t>(capacity)};
  DeviceArray<gpu::AlignedRect> boxes_{std::vector<gpu::AlignedRect>(capacity)};
  DeviceArray<std::uint32_t> first_near_{poisoned_}, parents_{poisoned_}, roots_{poisoned_};
  DeviceArray<gpu::ClassSums> classes_{std::vector<gpu::ClassSums>(capacity)},
      delivered_{std::vector<gpu::ClassSums>(capacity)};
};

TEST_P(GroupWindows, GivesTheClasses) {
  std::mt19937 random(5);
  const std::size_t few = gpu::few_windows;
  for (const std::size_t count :
       {std::size_t{0}, std::size_t{1}, std::size_t{2}, std::size_t{31}, std::size_t{32},
        std::size_t{33}, few - 1, few, few + 1, 4 * few}) {
    const std::vector<Candidate> candidates = some_candidates(pyramid_, count, GetParam(), random);
    for (const std::uint32_t least : {1, 4})
      under_all_schedules([&] { expect_grouped(candidates, least); });
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, GroupWindows,
                         ::testing::Values(Places::random, Places::clusters, Places::chain,
                                           Places::far),
                         [](const auto& tested) {
                           return tested.param == Places::random     ? "Random"
                                  : tested.param == Places::clusters ? "Clusters"
                                  : tested.param == Places::chain    ? "Chain"
                                                                     : "Far";
                         });

}  // namespace
}  // namespace facesat::test
