// Combines two algorithms of the same paper: 2R1W (kasagi_2014_2r1w.cu) where anti-diagonals of
// tiles are short, 1R1W (kasagi_2014_1r1w.cu) where they are long.
//
// Idea: the first and the last launches of 1R1W have few tiles and are bound by latency; 2R1W makes
//   those tiles, a triangle in the top left and one in the bottom right corner, in four launches
//   each. A fraction r of the picture is then read twice.
// Shapes: those of 2R1W and 1R1W.
// Reads and writes per element: the pixel 1 + r times, the table once ((1+r)R1W).
// Launches: 8, and one for each anti-diagonal of tiles between the triangles.
// Workspace: that of 2R1W.
// Source: A. Kasagi, K. Nakano, Y. Ito, "Parallel Algorithms for the Summed Area Table on the
//   Asynchronous Hierarchical Memory Machine, with GPU implementations", ICPP 2014, section VII.
// Departs from it in: in pictures that are not square a triangle's legs are sqrt(r) of the shorter
//   side; the scans of the second triangle, which the paper leaves open, begin with differences of
//   adjacent elements of the table.
#include <cmath>

#include "kernels/sat/kasagi_2014.cuh"
#include "kernels/sat/kasagi_2014_model.hpp"

namespace facesat::gpu {
namespace {

// The paper's r, as measured to be fastest. The paper's own search gave 0.17 to 0.07 on a GTX 780
// Ti; on an H200, which reads twenty million pixels in the time of a launch, a larger r is faster
// (among 0.17, 0.5, 0.8, 0.9, 0.97 and 0.995, for squares of 1024 to 16384 pixels).
constexpr double fraction_read_twice = 0.99;

void enqueue(const SatTask& task, void* workspace, StreamHandle stream) {
  const kasagi::Region all = kasagi::all_tiles(task.size);
  const int shorter = all.across < all.down ? all.across : all.down;
  // Anti-diagonals of a triangle: fewer than the shorter side's tiles.
  const int legs = static_cast<int>(std::sqrt(fraction_read_twice) * shorter);
  kasagi::Region first = all, between = all, last = all;
  first.end = between.first = legs;
  between.end = last.first = all.end - legs;
  for_each_table(task, [&]<class Pass>(const Pass& pass) {
    if (legs > 0) kasagi::enqueue_2r1w(pass, first, workspace, stream);
    kasagi::enqueue_1r1w(pass, between, stream);
    if (legs > 0) kasagi::enqueue_2r1w(pass, last, workspace, stream);
  });
}

HmmCost cost(Size size) {
  return hmm_hybrid(size, fraction_read_twice);
}

}  // namespace

const SatAlgorithm kasagi_2014_hybrid{
    .id = "kasagi_2014_hybrid",
    .title = "2R1W in the corners, 1R1W between ((1+r)R1W)",
    .paper = kasagi::paper,
    .year = 2014,
    .launches = 0,  // one per anti-diagonal, as in 1R1W
    .reads = 1 + fraction_read_twice,
    .writes = 1,
    .model = hmm_model<cost>,
    .workspace_bytes = kasagi::sums_bytes,
    .enqueue = enqueue,
};

}  // namespace facesat::gpu
