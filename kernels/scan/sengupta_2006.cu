// Work-efficient where the array is long, step-efficient where it is short.
//
// Idea: a balanced tree does the least work, but has twice as many steps, and near its root there
//   is less work than processors. So pairs are combined, level by level, only until the array is as
//   short as the GPU has threads; that one is scanned by recursive doubling; then each level is
//   made from the one above it.
// Shapes: one thread per pair.
// Reads and writes per element: about 5, 3, and those of recursive doubling at the top.
// Launches: two per level of the tree, and log2 of the length at the top.
// Workspace: one array for the levels, two for the top.
// Source: S. Sengupta, A. E. Lefohn, J. D. Owens, "A Work-Efficient Step-Efficient Prefix Sum
//   Algorithm", Workshop on Edge Computing Using New Commodity Architectures, 2006.
#include <algorithm>
#include <vector>

#include "kernels/scan/recursive.cuh"

namespace facesat::gpu {
namespace {

constexpr int threads = 256;

// The lengths of the levels, the array itself first, the top last.
std::vector<int> lengths_of(const ScanTask& task) {
  std::vector<int> lengths{task.n};
  while (lengths.back() > task.settings[0]) lengths.push_back(divide_up(lengths.back(), 2));
  return lengths;
}

template <class Pass>
__global__ void combine_pairs_kernel(Pass pass, typename Pass::T* pairs) {
  const int i = static_cast<int>(blockIdx.x) * threads + static_cast<int>(threadIdx.x);
  if (2 * i >= pass.n) return;
  const auto pair = pass.template load_several<2>(2 * i);
  pairs[i] = pass.op(pair.v[0], pair.v[1]);
}

// The scan of a level from the scan of its pairs, which is of the same kind.
template <class Pass>
__global__ void expand_pairs_kernel(Pass pass, const typename Pass::T* scanned) {
  using T = typename Pass::T;
  const int i = static_cast<int>(blockIdx.x) * threads + static_cast<int>(threadIdx.x);
  if (2 * i >= pass.n) return;
  auto pair = pass.template load_several<2>(2 * i);
  const T before = !pass.is_inclusive ? scanned[i] : i > 0 ? scanned[i - 1] : pass.op.identity();
  pair.v[1] = pass.op(pair.v[0], pair.v[1]);
  pass.template store_several<2>(2 * i, before, pair);
}

ScanCost cost(const ScanTask& task) {
  ScanCost cost;
  const std::vector<int> lengths = lengths_of(task);
  for (std::size_t level = 0; level + 1 < lengths.size(); ++level) {
    const double share = static_cast<double>(lengths[level]) / task.n;
    cost.launches += 2;
    cost.reads += 2.5 * share;
    cost.writes += 1.5 * share;
  }
  const int steps = doubling_steps(lengths.back());
  const double share = static_cast<double>(lengths.back()) / task.n;
  cost.launches += steps;
  cost.reads += 2 * steps * share;
  cost.writes += steps * share;
  return cost;
}

// Each level starts on a boundary of 16 bytes; every length is rounded up to whole fours.
constexpr std::size_t padded(int length) {
  return (static_cast<std::size_t>(length) + 3) / 4 * 4;
}

std::size_t workspace_bytes(const ScanTask& task) {
  const std::vector<int> lengths = lengths_of(task);
  std::size_t elements = 2 * padded(lengths.back());
  for (std::size_t level = 1; level < lengths.size(); ++level) elements += padded(lengths[level]);
  return elements * info_of(task.type).bytes;
}

void enqueue(const ScanTask& task, void* workspace, StreamHandle stream) {
  with_pass(task, [&]<class Pass>(const Pass& pass) {
    std::vector<Pass> levels{pass};
    auto* next = static_cast<typename Pass::T*>(workspace);
    for (const int length : lengths_of(task)) {
      if (length == pass.n) continue;
      const Pass& below = levels.back();
      FACESAT_LAUNCH(combine_pairs_kernel<Pass>, dim3(divide_up(length, threads)), dim3(threads),
                     stream, below, next);
      levels.push_back(over(pass, next, length, pass.is_inclusive));
      next += padded(length);
    }
    enqueue_recursive_doubling(levels.back(), next, stream);
    for (std::size_t level = levels.size() - 1; level-- > 0;)
      FACESAT_LAUNCH(expand_pairs_kernel<Pass>, dim3(divide_up(levels[level + 1].n, threads)),
                     dim3(threads), stream, levels[level], levels[level + 1].output);
  });
}

constexpr std::array top_choices{1024, 1 << 15, 1 << 18};
constexpr std::array parameters{
    ScanParameter{"top", "the length that is scanned by recursive doubling", 1 << 18, top_choices}};

}  // namespace

const ScanAlgorithm sengupta_2006{
    .id = "sengupta_2006",
    .title = "A balanced tree in global memory, recursive doubling at its top",
    .source = "Sengupta, Lefohn, Owens: A Work-Efficient Step-Efficient Prefix Sum Algorithm, 2006",
    .year = 2006,
    .parameters = parameters,
    .cost = cost,
    .workspace_bytes = workspace_bytes,
    .enqueue = enqueue,
};

}  // namespace facesat::gpu
