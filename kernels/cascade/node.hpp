// What the compiled nodes of all kinds of features (Haar, LBP) have in common.
//
// Each kind has three files. <kind>_node.hpp defines its node and a specialisation of NodeCompiler,
// <kind>_node.cpp implements the specialisation, and <kind>_node.cuh evaluates the node on the GPU.
#pragma once

#include <cstdint>

#include "core/cascade.hpp"

namespace facesat::gpu {

struct CompiledCascade;

// Where a tree's node leads: a child > 0 is that many nodes after the root; otherwise the walk ends
// at leaf `first_leaf - child`.
struct Branch {
  std::int16_t left, right;
  std::int32_t first_leaf;
};
static_assert(max_tree_nodes <= INT16_MAX, "children of the largest tree must fit into Branch");

// The stumps of a stage may be sorted into runs, each evaluated by one loop: run k has the nodes
// begin[k] .. begin[k + 1] - 1. A kind of features uses as many runs as it needs.
constexpr int max_runs = 4;
struct Runs {
  std::int32_t begin[max_runs + 1];
};

// Compiles the nodes of a cascade, one after the other. A specialisation has
//
//   NodeCompiler(const Cascade& cascade, const PatchLayout& layout);
//   Node operator()(const facesat::Node& node);  // compiles all but the node's branches
//   static Runs sort(std::span<Node> stumps, int first);
//     Sorts the stumps of a stage; `first` is the index of the first one.
//   void finish(CompiledCascade& compiled);
//     Adds what the cascade needs besides nodes.
template <class Node>
class NodeCompiler;

}  // namespace facesat::gpu
