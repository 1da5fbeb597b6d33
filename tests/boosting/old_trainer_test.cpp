// Stages as opencv_traincascade trains them on the same samples (oracle/train_reference.py made the
// stored results): the same features, thresholds and leaves.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "boosting/stage_trainer.hpp"
#include "tests/kit/train_sets.hpp"

namespace facesat::training {
namespace {

using Json = nlohmann::json;

// "0-4,6"
std::vector<std::size_t> indices(const std::string& text) {
  std::vector<std::size_t> result;
  const char* at = text.c_str();
  while (*at) {
    char* end;
    const std::size_t first = std::strtoul(at, &end, 10);
    const std::size_t last = *end == '-' ? std::strtoul(end + 1, &end, 10) : first;
    for (std::size_t i = first; i <= last; ++i) result.push_back(i);
    at = *end ? end + 1 : end;
  }
  return result;
}

Samples chosen(const std::vector<Image<std::uint8_t>>& pictures, Size window,
               const std::string& which) {
  Samples samples{.window = window, .pixels = {}};
  for (const std::size_t i : indices(which)) samples.add(pictures[i].view());
  return samples;
}

struct Run {
  FeatureSet features = FeatureSet::haar_basic;
  StageOptions options;
};

Run run_of(const std::string& arguments) {
  Run run;
  std::istringstream words(arguments);
  std::string name, value;
  while (words >> name >> value) {
    if (name == "-featureType" && value == "LBP") run.features = FeatureSet::lbp;
    if (name == "-mode" && value == "CORE") run.features = FeatureSet::haar_core;
    if (name == "-mode" && value == "ALL") run.features = FeatureSet::haar_all;
    if (name == "-bt" && value == "DAB") run.options.boosting = Boosting::discrete;
    if (name == "-bt" && value == "RAB") run.options.boosting = Boosting::real;
    if (name == "-bt" && value == "LB") run.options.boosting = Boosting::logit;
    if (name == "-minHitRate") run.options.min_hit_rate = std::stod(value);
    if (name == "-maxFalseAlarmRate") run.options.max_false_alarm = std::stod(value);
    if (name == "-weightTrimRate") run.options.trim_rate = static_cast<double>(std::stof(value));
    if (name == "-maxDepth") run.options.depth = std::stoi(value);
    if (name == "-maxWeakCount") run.options.max_trees = std::stoi(value);
  }
  return run;
}

// The old program divides by the deviation where the detector multiplies by its inverse.
testing::AssertionResult is_near(float value, float expected) {
  const float units = 4 * std::numeric_limits<float>::epsilon() * std::fabs(expected);
  if (std::fabs(value - expected) <= std::max(units, 1e-12f)) return testing::AssertionSuccess();
  return testing::AssertionFailure() << value << " instead of " << expected;
}

struct Tally {
  int stages = 0, trees = 0, nodes = 0;  // that are the same
  int rivals = 0, thresholds = 0;        // where another one that is equally good won
};

// Returns whether the tree is the same. One node's best feature may be another of those that are
// as good up to rounding; then trees and the rest of the stage need not be alike.
bool is_same(const TrainedTree& tree, const Json& expected, Tally& tally) {
  const Json& nodes = expected["nodes"];
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const Json& node = nodes[i];
    if (i >= tree.nodes.size()) {
      ADD_FAILURE() << "node " << i << " is missing: " << expected.dump();
      return false;
    }
    if (tree.nodes[i].feature != node[2]) {
      EXPECT_GT(expected["rivals"][i][0], 0) << tree.nodes[i].feature << " in " << expected.dump();
      ++tally.rivals;
      return false;
    }
    // Of a symmetric feature, a threshold and its opposite can be equally good.
    const bool is_haar = node.size() == 4;
    if (is_haar && !is_near(tree.nodes[i].threshold, node[3])) {
      ++tally.thresholds;
      return false;
    }
    ++tally.nodes;
    EXPECT_EQ(tree.nodes[i].left, node[0]);
    EXPECT_EQ(tree.nodes[i].right, node[1]);
    for (std::size_t k = 0; k < 8 && !is_haar; ++k)
      EXPECT_EQ(static_cast<std::int32_t>(tree.nodes[i].subset[k]), node[3 + k]) << expected.dump();
  }
  EXPECT_EQ(tree.leaves.size(), expected["leaves"].size());
  for (std::size_t i = 0; i < tree.leaves.size(); ++i)
    EXPECT_TRUE(is_near(static_cast<float>(tree.leaves[i]), expected["leaves"][i]));
  ++tally.trees;
  return true;
}

void compare(const test::TrainSet& set, const Json& run, Tally& tally) {
  SCOPED_TRACE(run["name"].get<std::string>());
  const auto [features, options] = run_of(run["arguments"]);
  const FeaturePool pool = make_pool(features, set.window);
  for (const Json& stage : run["stages"]) {
    StageTrainer trainer(pool,
                         {.positives = chosen(set.positives, set.window, stage["positives"]),
                          .negatives = chosen(set.negatives, set.window, stage["negatives"]),
                          .held_out_positives = {set.window, {}},
                          .held_out_negatives = {set.window, {}}},
                         options);
    bool is_alike = true;
    for (const Json& tree : stage["trees"]) {
      ASSERT_TRUE(trainer.train_tree());
      is_alike = is_same(trainer.trees().back(), tree, tally);
      if (!is_alike) break;
      EXPECT_NEAR(trainer.rates().hit_rate, tree["hits"], 1e-5);
      EXPECT_NEAR(trainer.rates().false_alarm, tree["false_alarms"], 1e-5);
      const bool is_last = &tree == &stage["trees"].back();
      const bool is_complete =
          trainer.has_reached_rate() || std::ssize(trainer.trees()) == options.max_trees;
      EXPECT_EQ(is_complete || (is_last && !trainer.train_tree()), is_last);
    }
    if (!is_alike) continue;
    // The detector, and with it the trainer, adds up leaves that are rounded to f32.
    EXPECT_NEAR(trainer.threshold(), stage["threshold"], 1e-6);
    ++tally.stages;
  }
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::size_t shares = 40, tested_shares = 1;
#else
constexpr std::size_t shares = 4, tested_shares = 4;
#endif

// A set, and one of the shares into which its runs are divided.
class OldTrainer : public testing::TestWithParam<std::tuple<const char*, std::size_t>> {};

TEST_P(OldTrainer, TrainsTheSameStages) {
  const auto [set_name, part] = GetParam();
  const std::string name = set_name;
  const char* data = std::getenv("FACESAT_TEST_DATA");
  if (name != "shapes" && !data) GTEST_SKIP() << "skipped: FACESAT_TEST_DATA is not set";
  const test::TrainSet set = name == "shapes"  ? test::shapes_set()
                             : name == "faces" ? test::faces_set(std::string(data) + "/train")
                                               : test::cars_set(std::string(data) + "/train");
  std::ifstream file(std::string(FACESAT_STORED_STAGES) + "/" + name + ".json");
  const Json stored = Json::parse(file);
  if (stored["checksum"] != fmt::format("{:016x}", checksum(set)))
    GTEST_SKIP() << "skipped: pictures are decoded differently here";
  Tally tally;
  for (std::size_t i = part; i < stored["runs"].size(); i += shares)
    compare(set, stored["runs"][i], tally);
  fmt::print(
      "{} stages, {} trees, {} nodes are the same; in {} and {} nodes, another feature and "
      "another threshold won\n",
      tally.stages, tally.trees, tally.nodes, tally.rivals, tally.thresholds);
  EXPECT_GT(tally.stages, 0u);
}

INSTANTIATE_TEST_SUITE_P(Sets, OldTrainer,
                         testing::Combine(testing::Values("shapes", "faces", "cars"),
                                          testing::Range(std::size_t{0}, tested_shares)),
                         [](const auto& parameters) {
                           return fmt::format("{}_{}", std::get<0>(parameters.param),
                                              std::get<1>(parameters.param));
                         });

}  // namespace
}  // namespace facesat::training
