// Computes every element from its three neighbours, one anti-diagonal after the other.
//
// Idea: an element of the table is the pixel, plus the elements to the left and above, minus the
//   one above and to the left. These lie on the two previous anti-diagonals, so all elements of an
//   anti-diagonal are computed at the same time, and those of the next after a barrier. All
//   accesses are strided.
// Shapes: a thread for each element, blocks of 64.
// Reads and writes per element: the pixel and three elements of the table read; one written (4R1W).
// Launches: one for each anti-diagonal of elements, width + height - 1.
// Workspace: none.
// Source: A. Kasagi, K. Nakano, Y. Ito, "Parallel Algorithms for the Summed Area Table on the
//   Asynchronous Hierarchical Memory Machine, with GPU implementations", ICPP 2014, section VI; its
//   formula (1) has the signs of the neighbours reversed by mistake.
#include "kernels/sat/kasagi_2014.cuh"
#include "kernels/sat/kasagi_2014_model.hpp"

namespace facesat::gpu {
namespace {

using namespace kasagi;

// The elements of anti-diagonal `diagonal`, from column `first` to column `end` - 1.
template <class Pass>
__global__ void make_elements_kernel(Pass pass, int diagonal, int first, int end) {
  using Out = typename Pass::Out;
  const int x = first + static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x), y = diagonal - x;
  if (x >= end) return;
  Out* const row = pass.row(y);
  const Out* const above = pass.row(y - 1);
  row[x] = Pass::value(pass.input_row(y)[x]) + row[x - 1] + above[x] - above[x - 1];
}

void enqueue(const SatTask& task, void*, StreamHandle stream) {
  for_each_table(task, [&]<class Pass>(const Pass& pass) {
    const auto [width, height] = pass.size;
    for (int diagonal = 0; diagonal < width + height - 1; ++diagonal) {
      const int first = diagonal < height ? 0 : diagonal - height + 1;
      const int end = diagonal < width ? diagonal + 1 : width;
      FACESAT_LAUNCH(make_elements_kernel<Pass>, dim3(divide_up(end - first, line_threads)),
                     dim3(line_threads), stream, pass, diagonal, first, end);
    }
  });
}

HmmCost cost(const SatAlgorithm&, Size size) {
  return hmm_4r1w(size);
}

}  // namespace

const SatAlgorithm kasagi_2014_4r1w{
    .id = "kasagi_2014_4r1w",
    .title = "Anti-diagonals of elements (4R1W)",
    .paper = kasagi::paper,
    .year = 2014,
    .launches = 0,  // one per anti-diagonal
    .reads = 4,
    .writes = 1,
    .model = hmm_model<cost>,
    .workspace_bytes = no_workspace,
    .enqueue = enqueue,
};

}  // namespace facesat::gpu
