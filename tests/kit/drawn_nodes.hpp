// Samples and nodes for tests of boosting.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "boosting/samples.hpp"
#include "boosting/split.hpp"
#include "tests/kit/pictures.hpp"

namespace facesat::test {

// Soft, sharp, of low variance, of one grey level, of two, and the same once more.
inline training::Samples mixed_samples(Size window, int count, unsigned seed) {
  training::Samples samples{.window = window, .pixels = {}};
  for (int i = 0; i < count; ++i) {
    const unsigned own = seed * 10'000 + static_cast<unsigned>(i);
    switch (i % 8) {
      case 0:
        samples.add(noise(window, own, 100, 104).view());
        break;
      case 1:
        samples.add(flat(window, static_cast<std::uint8_t>(i)).view());
        break;
      case 2:
        samples.add(noise(window, own, 40, 42).view());
        break;
      case 3:
        samples.add(noise(window, own).view());
        break;
      case 4: {
        const training::Samples before = samples;
        samples.add(before[before.count() / 2]);
        break;
      }
      default:
        samples.add(clouds(window, own, 1).view());
    }
  }
  return samples;
}

// How the weights of a node are drawn.
enum class Weights { equal, random, unequal };

struct DrawnNode {
  std::vector<float> responses;
  std::vector<double> weights;  // which sum to 1; some are 0 if the node is not the root
  std::size_t positives;

  DrawnNode(std::size_t count, Weights kind, bool is_logit, bool is_root, unsigned seed)
      : responses(count), weights(count), positives(count * 2 / 5) {
    std::mt19937 random(seed);
    const auto uniform = [&] { return static_cast<double>(random()) / 0x1p32; };
    double sum = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const bool is_positive = i < positives;
      // Many samples of a class have the same response, as in LogitBoost after a stump.
      const double size = is_logit ? 1 + std::floor(uniform() * 4) * uniform() * 3 : 1;
      responses[i] = static_cast<float>(is_positive ? size : -size);
      if (!is_root && random() % 3 == 0) continue;
      weights[i] = kind == Weights::equal    ? 1
                   : kind == Weights::random ? uniform()
                                             : std::exp(-40 * uniform());
      sum += weights[i];
    }
    for (double& weight : weights) weight /= sum;
  }
  training::NodeSamples samples() const { return {weights, responses, positives}; }
};

inline constexpr std::array criteria{training::SplitCriterion::regression,
                                     training::SplitCriterion::gini,
                                     training::SplitCriterion::misclassification};

// Calls check(node, criterion, what it is) for nodes of `count` samples.
template <class Check>
void for_drawn_nodes(std::size_t count, Check check) {
  unsigned seed = 0;
  for (const Weights kind : {Weights::equal, Weights::random, Weights::unequal})
    for (const bool is_root : {true, false})
      for (const training::SplitCriterion criterion : criteria)
        for (const bool is_logit : {false, true}) {
          if (is_logit && criterion != training::SplitCriterion::regression) continue;
          const DrawnNode node(count, kind, is_logit, is_root, ++seed);
          check(node.samples(), criterion,
                testing::Message()
                    << "node " << seed << ", criterion " << static_cast<int>(criterion));
        }
}

}  // namespace facesat::test
