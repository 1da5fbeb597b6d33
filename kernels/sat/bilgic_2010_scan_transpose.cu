// Scan, transpose, scan, transpose, with Blelloch's work-efficient scan in shared memory.
//
// Idea: a block scans a row 512 elements at a time, over a balanced tree of sums: an up-sweep adds
//   from the leaves to the root, a down-sweep passes every node the sum of all elements before it.
//   A transposition through shared memory turns columns into rows, so that the same kernel scans
//   them with coalesced accesses; a second one turns the table back.
// Shapes: blocks of 256 threads along a row, with two elements per thread and a carry; tiles of 32
//   x 32, 32 x 8 threads.
// Reads and writes per element: four of each (4R4W).
// Launches: 4.
// Workspace: the transposed table.
// Source: Berkin Bilgic, Berthold K. P. Horn, Ichiro Masaki: Efficient Integral Image Computation
//   on the GPU, IEEE Intelligent Vehicles Symposium 2010; the scan is Blelloch's (Prefix Sums and
//   Their Applications, 1990).
// Departs from it in: rows of any length, by a carry that replaces the zero at the tree's root; one
//   element of padding per 32.
#include "kernels/sat/transposed.cuh"

namespace facesat::gpu {
namespace {

// A block scans a row.
template <class Pass>
__global__ void __launch_bounds__(tree_threads) scan_rows_kernel(Pass pass) {
  scan_row_by_tree(pass, static_cast<int>(blockIdx.x));
}

// row(x)[y] of the table becomes pixel (x, y).
template <class Pass>
__global__ void __launch_bounds__(turning_side* turning_rows) transpose_kernel(Pass pass) {
  transpose_tile(pass);
}

template <class Pass>
void scan_rows(const Pass& pass, StreamHandle stream) {
  FACESAT_LAUNCH(scan_rows_kernel<Pass>, dim3(pass.size.height), dim3(tree_threads), stream, pass);
}

template <class Pass>
void transpose(const Pass& pass, StreamHandle stream) {
  FACESAT_LAUNCH(transpose_kernel<Pass>, grid_of_turning(pass.size),
                 dim3(turning_side, turning_rows), stream, pass);
}

void enqueue(const SatTask& task, void* workspace, StreamHandle stream) {
  for_each_table(task, [&]<class Pass>(const Pass& pass) {
    using Out = typename Pass::Out;
    const Size size = pass.size, turned{size.height, size.width};
    auto* const columns = static_cast<Out*>(workspace);
    const std::ptrdiff_t pitch = transposed_pitch(size);
    scan_rows(pass, stream);
    transpose(between_tables(size, pass.table, pass.pitch, columns, pitch), stream);
    scan_rows(between_tables(turned, columns, pitch, columns, pitch), stream);
    transpose(between_tables(turned, columns, pitch, pass.table, pass.pitch), stream);
  });
}

}  // namespace

const SatAlgorithm bilgic_2010_scan_transpose{
    .id = "bilgic_2010_scan_transpose",
    .title = "Scan, transpose, scan, transpose, by balanced trees (4R4W)",
    .source =
        "Bilgic, Horn, Masaki: Efficient Integral Image Computation on the GPU, Intelligent "
        "Vehicles "
        "Symposium 2010",
    .year = 2010,
    .launches = 4,
    .reads = 4,
    .writes = 4,
    .workspace_bytes = transposed_bytes,
    .enqueue = enqueue,
};

}  // namespace facesat::gpu
