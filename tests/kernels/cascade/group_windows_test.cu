// Sorting and uniting windows, against the host's own grouping, for few and for many windows.
#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "core/grouping.hpp"
#include "core/pyramid.hpp"
#include "kernels/cascade/group_windows.hpp"
#include "tests/core/printers.hpp"
#include "tests/kernels/device_memory.hpp"

namespace facesat::test {
namespace {

using gpu::Candidate;

enum class Places {
  random,    // anywhere
  clusters,  // most are similar to others
  chain,     // each is similar to the next one only
};

std::vector<Candidate> some_candidates(const Pyramid& pyramid, std::size_t count, Places places,
                                       std::mt19937& random) {
  const auto upto = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  std::vector<Candidate> candidates;
  std::set<std::pair<int, std::uint32_t>> taken;
  for (int i = 0; candidates.size() < count; ++i) {
    const int level = places == Places::chain ? 0 : upto(4);
    const Size grid = pyramid.levels[level].grid;
    const int cluster = upto(3) * 13;
    const int x = places == Places::random     ? upto(grid.width)
                  : places == Places::clusters ? std::min(cluster + upto(6), grid.width - 1)
                                               : i * 2 % (grid.width - 1),
              y = places == Places::random     ? upto(grid.height)
                  : places == Places::clusters ? std::min(cluster + upto(6), grid.height - 1)
                                               : i * 2 / (grid.width - 1) * 8;
    const auto cell = static_cast<std::uint32_t>(y * grid.width + x);
    if (!taken.insert({level, cell}).second) {
      if (places != Places::random && taken.size() > 300) places = Places::random;
      continue;
    }
    candidates.push_back({upto(1000), cell, level});
  }
  std::shuffle(candidates.begin(), candidates.end(), random);
  return candidates;
}

std::vector<Window> windows_of(std::vector<Candidate> candidates, const Pyramid& pyramid) {
  std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
    return std::tie(a.level, a.cell) < std::tie(b.level, b.cell);
  });
  std::vector<Window> windows;
  for (const Candidate& c : candidates) {
    const Level& level = pyramid.levels[c.level];
    const auto width = static_cast<std::uint32_t>(level.grid.width);
    const int x = static_cast<int>(c.cell % width) * level.step,
              y = static_cast<int>(c.cell / width) * level.step;
    windows.push_back(
        {c.level, x, y, static_cast<double>(c.sum), window_in_image(level, pyramid.window, x, y)});
  }
  return windows;
}

// The number of the class of each window, by its first window.
std::vector<std::uint32_t> classes_of(const std::vector<Window>& windows) {
  std::vector<std::uint32_t> classes(windows.size());
  for (std::uint32_t i = 0; i < windows.size(); ++i) {
    classes[i] = i;
    for (std::uint32_t j = 0; j < i; ++j)
      if (classes[j] != classes[i] && are_similar(windows[i].box, windows[j].box)) {
        const std::uint32_t kept = std::min(classes[i], classes[j]),
                            lost = std::max(classes[i], classes[j]);
        std::replace(classes.begin(), classes.begin() + i + 1, lost, kept);
      }
  }
  return classes;
}

std::uint32_t root_of(const std::vector<gpu::GroupedWindow>& windows, std::uint32_t i) {
  while (windows[i].parent != i) i = windows[i].parent;
  return i;
}

class GroupWindows : public ::testing::TestWithParam<Places> {
 protected:
  static constexpr std::uint32_t capacity = 1200;

  void expect_grouped(const std::vector<Candidate>& candidates) {
    const std::string what = std::to_string(candidates.size()) + " windows";
    std::vector<Candidate> all = candidates;
    all.resize(capacity);
    candidates_.upload(all);
    const auto count = static_cast<std::uint32_t>(candidates.size());
    count_.upload({count});
    delivered_.upload(std::vector<gpu::GroupedWindow>(capacity));
    delivered_counts_.upload({{77, 77}});
    gpu::GroupWindowsTask task{};
    task.evaluated_levels = evaluated_levels_.data();
    task.box_levels = box_levels_.data();
    task.candidates = candidates_.data();
    task.candidate_count = count_.data();
    task.capacity = capacity;
    task.unites = true;
    task.counts = counts_.data();
    task.found = found_.data();
    task.windows = windows_.data();
    task.delivered_counts = delivered_counts_.data();
    task.delivered = delivered_.data();
    gpu::enqueue_few_windows(task, test_stream());
    if (count > gpu::few_windows) gpu::enqueue_many_windows(task, test_stream());
    EXPECT_EQ(count_.download()[0], 0u) << what;
    EXPECT_EQ(delivered_counts_.download()[0].windows, count) << what;
    EXPECT_EQ(delivered_counts_.download()[0].candidates, count) << what;
    const std::vector<gpu::GroupedWindow> found = delivered_.download();
    const std::vector<Window> expected = windows_of(candidates, pyramid_);
    const std::vector<std::uint32_t> classes = classes_of(expected);
    for (std::uint32_t i = 0; i < count; ++i) {
      EXPECT_EQ(found[i].box, expected[i].box) << what << ", window " << i;
      EXPECT_EQ(found[i].window.level, expected[i].level) << what << ", window " << i;
      EXPECT_EQ(static_cast<double>(found[i].window.sum), expected[i].score) << what;
      ASSERT_LE(found[i].parent, i) << what << ", window " << i;
      EXPECT_EQ(root_of(found, i), classes[i]) << what << ", window " << i;
    }
    for (const gpu::GroupedWindow& rest : std::span(found).subspan(count))
      EXPECT_EQ(rest.box, Rect()) << what;
  }

  const Pyramid pyramid_ = plan_pyramid({150, 120}, {20, 20}, {});
  DeviceArray<gpu::EvaluateLevel> evaluated_levels_{
      std::vector<gpu::EvaluateLevel>(pyramid_.levels.size())};
  DeviceArray<gpu::BoxLevel> box_levels_{gpu::plan_boxes(pyramid_)};
  DeviceArray<Candidate> candidates_{std::vector<Candidate>(capacity)},
      found_{std::vector<Candidate>(capacity)};
  DeviceArray<std::uint32_t> count_{std::vector<std::uint32_t>{0}};
  DeviceArray<gpu::WindowCounts> counts_{std::vector<gpu::WindowCounts>{{77, 77}}},
      delivered_counts_{std::vector<gpu::WindowCounts>{{77, 77}}};
  DeviceArray<gpu::GroupedWindow> windows_{std::vector<gpu::GroupedWindow>(capacity)},
      delivered_{std::vector<gpu::GroupedWindow>(capacity)};
};

TEST_P(GroupWindows, GivesTheClassesOfTheHost) {
  std::mt19937 random(5);
  const std::size_t few = gpu::few_windows;
  for (const std::size_t count :
       {std::size_t{0}, std::size_t{1}, std::size_t{2}, std::size_t{31}, std::size_t{32},
        std::size_t{33}, few - 1, few, few + 1, 4 * few}) {
    const std::vector<Candidate> candidates = some_candidates(pyramid_, count, GetParam(), random);
    under_all_schedules([&] { expect_grouped(candidates); });
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, GroupWindows,
                         ::testing::Values(Places::random, Places::clusters, Places::chain),
                         [](const auto& tested) {
                           return tested.param == Places::random     ? "Random"
                                  : tested.param == Places::clusters ? "Clusters"
                                                                     : "Chain";
                         });

}  // namespace
}  // namespace facesat::test
