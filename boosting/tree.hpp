// Weak classifiers: trees of node tests.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "boosting/feature_pool.hpp"
#include "boosting/sample_tables.hpp"
#include "boosting/screen.hpp"
#include "core/cascade.hpp"

namespace facesat::training {

// The logarithm of p / (1 - p), for p not too near 0 and 1.
double log_odds(double p);

// A tree as it was trained. Nodes test features of the pool; they and the leaves are in the order
// of cascade files.
struct TrainedTree {
  std::vector<Node> nodes;
  std::vector<double> leaves;  // in f32 in the cascade

  // The index of the leaf that each sample reaches.
  std::vector<std::uint32_t> leaves_of(const FeaturePool& pool, const SampleTables& tables) const;
};

struct TreeOptions {
  Boosting boosting = Boosting::gentle;
  int depth = 1;              // 1: stumps
  bool between_bins = false;  // see best_split()
};

// The samples that a tree learns from. Weights and responses are those of all samples, of which the
// first `positives` are of the objects' class.
struct TreeSamples {
  std::span<const double> weights;
  std::span<const float> responses;
  std::size_t positives = 0;
  std::vector<std::uint32_t> used;  // the samples to learn from, in order
};

// Grows a tree, depth first, each node by its best split. A node becomes a leaf at the greatest
// depth, with at most ten samples, if it is of one class (Real and Discrete AdaBoost) or its error
// is small (the others), or if nothing divides its samples. A tree without nodes: so does the root.
TrainedTree grow_tree(const FeaturePool& pool, const SampleTables& tables, Screen& screen,
                      const TreeSamples& samples, const TreeOptions& options);

}  // namespace facesat::training
