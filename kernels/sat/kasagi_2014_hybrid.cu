// Combines two algorithms of the same paper: 2R1W (kasagi_2014_2r1w.cu) where anti-diagonals of
// tiles are short, 1R1W (kasagi_2014_1r1w.cu) where they are long.
//
// Idea: the first and the last launches of 1R1W have few tiles and are bound by latency; 2R1W makes
//   those tiles, in the top left and in the bottom right corner, in four launches each. A fraction
//   r of the picture is then read twice.
// Parameter: r, from 0 (1R1W) to 1 (2R1W).
// Shapes: those of 2R1W and 1R1W.
// Reads and writes per element: the pixel 1 + r times, the table once ((1+r)R1W).
// Launches: 8, and one for each anti-diagonal of tiles between the corners.
// Workspace: that of 2R1W.
// Source: A. Kasagi, K. Nakano, Y. Ito, "Parallel Algorithms for the Summed Area Table on the
//   Asynchronous Hierarchical Memory Machine, with GPU implementations", ICPP 2014, section VII.
// Departs from it in: pictures need not be square, so that corners are not always triangles: each
//   has the anti-diagonals that make up r / 2 of the picture; the scans of the second corner, which
//   the paper leaves open, begin with differences of adjacent elements of the table.
#include <algorithm>
#include <cmath>

#include "kernels/sat/kasagi_2014.cuh"
#include "kernels/sat/kasagi_2014_model.hpp"

namespace facesat::gpu {
namespace {

// As measured to be fastest. The paper's own search gave 0.17 to 0.07 on a GTX 780 Ti; on an H200,
// which reads twenty million pixels in the time of a launch, a larger r is faster.
constexpr double fastest = 0.99;
constexpr double published[]{0.25};

double reads(double r) {
  return 1 + r;
}

// As in the paper, what every number of anti-diagonals gives; at most 24 values, evenly spaced in
// sqrt(r), which in a square is their number.
std::vector<double> candidates(Size size) {
  constexpr int most = 24;
  const kasagi::Region region = kasagi::all_tiles(size);
  const Size tiles{region.across, region.down};
  const auto area = static_cast<double>(tiles.area());
  std::vector<double> all, chosen;
  double made = 2;  // tiles of both corners
  for (int count = 1; made < area; made += 2 * diagonal_length(tiles, count++))
    all.push_back(made / area);
  if (all.size() <= most) return all;
  const double least = std::sqrt(all.front()), greatest = std::sqrt(all.back());
  for (int i = 0; i < most; ++i) {
    const double root = least + (greatest - least) * i / (most - 1);
    const double r = *std::lower_bound(all.begin(), all.end() - 1, root * root);
    if (chosen.empty() || r > chosen.back()) chosen.push_back(r);
  }
  return chosen;
}

constexpr SatParameter r_parameter{.name = "r",
                                   .meaning = "the fraction of the picture that is read twice",
                                   .least = 0,
                                   .greatest = 1,
                                   .published = published,
                                   .reads = reads,
                                   .candidates = candidates};

void enqueue(const SatTask& task, void* workspace, StreamHandle stream) {
  const kasagi::Region all = kasagi::all_tiles(task.size);
  const int corner = corner_diagonals({all.across, all.down}, task.parameter);
  kasagi::Region first = all, between = all, last = all;
  first.end = between.first = corner;
  between.end = last.first = std::max(corner, all.end - corner);
  for_each_table(task, [&]<class Pass>(const Pass& pass) {
    if (first.first < first.end) kasagi::enqueue_2r1w(pass, first, workspace, stream);
    kasagi::enqueue_1r1w(pass, between, stream);
    if (last.first < last.end) kasagi::enqueue_2r1w(pass, last, workspace, stream);
  });
}

HmmCost cost(const SatAlgorithm& sat, Size size) {
  return hmm_hybrid(size, sat.value);
}

}  // namespace

const SatAlgorithm kasagi_2014_hybrid{
    .id = "kasagi_2014_hybrid",
    .title = "2R1W in the corners, 1R1W between ((1+r)R1W)",
    .paper = kasagi::paper,
    .year = 2014,
    .launches = 0,  // one per anti-diagonal, as in 1R1W
    .reads = 1 + fastest,
    .writes = 1,
    .model = hmm_model<cost>,
    .workspace_bytes = kasagi::sums_bytes,
    .enqueue = enqueue,
    .parameter = &r_parameter,
    .value = fastest,
};

}  // namespace facesat::gpu
