// Two-dimensional convolution of the pixels whose window lies within the picture.
//
// Idea: without the others there are no borders and no conditions. Of N x N pixels,
//   N^2 - 4 R (N - R) are left with radius R.
// Shapes: blocks of 32 x 8 threads.
// Reads per pixel: one for each weight.
// Launches: 1, or none if no window lies within the picture.
// Workspace: none.
// Source: lecture on convolution and integral images, "Compute ONLY the central elements".
// Departs from it in: results stay at their pixels' places, so that they can be compared with those
//   of the other algorithms; elements around them are not written.
#include "kernels/filter/naive.cuh"

namespace facesat::gpu {
namespace {

template <class Pass>
__global__ void valid_kernel(Pass pass, Size valid) {
  const auto [x, y] = place_of_thread();
  if (x >= valid.width || y >= valid.height) return;
  const int column = x + pass.radius.x, row = y + pass.radius.y;
  pass.store(column, row,
             convolved_inside(pass, column, row, [&](int i) { return pass.weights[i]; }));
}

void enqueue(const FilterTask& task, void*, StreamHandle stream) {
  const Size valid{task.size.width - 2 * task.mask.radius.x,
                   task.size.height - 2 * task.mask.radius.y};
  if (valid.width < 1 || valid.height < 1) return;
  with_pass(task, [&]<class Pass>(const Pass& pass) {
    FACESAT_LAUNCH(valid_kernel<Pass>, grid_of(valid, naive_width, naive_height),
                   dim3(naive_width, naive_height), stream, pass, valid);
  });
}

}  // namespace

const FilterAlgorithm lecture_2d_valid{
    .id = "lecture_2d_valid",
    .title = "Only pixels whose window lies within the picture",
    .source = "lecture",
    .is_valid_part = true,
    .reads = reads_of_window,
    .workspace_bytes = no_workspace,
    .enqueue = enqueue,
};

}  // namespace facesat::gpu
