// 2R1W where anti-diagonals of tiles are short, 1R1W where they are long.
//
// Idea: the first and the last launches of 1R1W have few tiles to make and cost their latency; 2R1W
// makes those tiles, a triangle in the top left and one in the bottom right corner, in four
// launches each. A fraction r of the picture is then read twice. Shapes: those of 2R1W and 1R1W.
// Reads and writes an element: the pixel 1 + r times, the table once ((1+r)R1W). Launches: 8, and
// one for each anti-diagonal of tiles between the triangles. Workspace: that of 2R1W. Source: A.
// Kasagi, K. Nakano, Y. Ito, "Parallel Algorithms for the Summed Area Table on the Asynchronous
// Hierarchical Memory Machine, with GPU implementations", ICPP 2014, section VII. Departs from it
// in: r comes from its table II by the picture's size, not from a search; in pictures that are not
// square a triangle's legs are sqrt(r) of the shorter side; the scans of the second triangle, which
// the paper leaves open, begin with differences of neighbours in the table.
#include <cmath>

#include "kernels/sat/kasagi_2014.cuh"

namespace facesat::gpu {
namespace {

// The r that was fastest for squares of that many pixels, smoothed.
constexpr double fraction_read_twice(double pixels) {
  constexpr double k = 1024;
  return pixels < 4.5 * k * 4.5 * k   ? 0.17
         : pixels < 6.5 * k * 6.5 * k ? 0.13
         : pixels < 11 * k * 11 * k   ? 0.095
                                      : 0.073;
}

void enqueue(const SatTask& task, void* workspace, StreamHandle stream) {
  const kasagi::Region all = kasagi::all_tiles(task.size);
  const int shorter = all.across < all.down ? all.across : all.down;
  const double pixels = static_cast<double>(task.size.width) * task.size.height;
  // Anti-diagonals of a triangle: fewer than half of the shorter side's tiles.
  const int legs = static_cast<int>(std::sqrt(fraction_read_twice(pixels)) * shorter);
  kasagi::Region first = all, between = all, last = all;
  first.end = between.first = legs;
  between.end = last.first = all.end - legs;
  for_each_table(task, [&]<class Pass>(const Pass& pass) {
    if (legs > 0) kasagi::enqueue_2r1w(pass, first, workspace, stream);
    kasagi::enqueue_1r1w(pass, between, stream);
    if (legs > 0) kasagi::enqueue_2r1w(pass, last, workspace, stream);
  });
}

}  // namespace

const SatAlgorithm kasagi_2014_hybrid{
    .id = "kasagi_2014_hybrid",
    .title = "2R1W in the corners, 1R1W between ((1+r)R1W)",
    .paper = kasagi::paper,
    .year = 2014,
    .launches = 0,
    .reads = 1.17,  // pictures of up to 4K x 4K; 1.073 the largest
    .writes = 1,
    .workspace_bytes = kasagi::sums_bytes,
    .enqueue = enqueue,
};

}  // namespace facesat::gpu
