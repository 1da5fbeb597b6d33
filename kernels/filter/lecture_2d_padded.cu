// Two-dimensional convolution of a copy with its border around it.
//
// Idea: a first kernel writes the picture and as much of its border as windows reach, so that the
//   second one needs no conditions.
// Shapes: blocks of 32 x 8 threads, one per element of the padded picture, then one per pixel.
// Reads per pixel: one for each element of the padded picture, then one for each weight.
// Launches: 2.
// Workspace: the padded picture.
// Source: lecture on convolution and integral images, "Run a first kernel which PAD the matrix".
#include "kernels/filter/naive.cuh"

namespace facesat::gpu {
namespace {

Size padded(const FilterTask& task) {
  return {task.size.width + 2 * task.mask.radius.x, task.size.height + 2 * task.mask.radius.y};
}

std::size_t workspace_bytes(const FilterTask& task) {
  return static_cast<std::size_t>(padded(task).area()) * info_of(task.type).input_bytes;
}

double reads(const FilterTask& task) {
  return static_cast<double>(padded(task).area()) / static_cast<double>(task.size.area()) +
         reads_of_window(task);
}

template <class Pass>
__global__ void pad_kernel(Pass pass, typename Pass::In* to, Size padded) {
  const auto [x, y] = place_of_thread();
  if (x >= padded.width || y >= padded.height) return;
  to[static_cast<std::ptrdiff_t>(y) * padded.width + x] =
      pass.at(x - pass.radius.x, y - pass.radius.y);
}

template <class Pass>
__global__ void padded_kernel(Pass pass) {
  const auto [x, y] = place_of_thread();
  if (!pass.has(x, y)) return;
  pass.store(x, y, convolved_inside(pass, x, y, [&](int i) { return pass.weights[i]; }));
}

void enqueue(const FilterTask& task, void* workspace, StreamHandle stream) {
  const dim3 block(naive_width, naive_height);
  with_pass(task, [&]<class Pass>(Pass pass) {
    const Size size = padded(task);
    auto* const copy = static_cast<typename Pass::In*>(workspace);
    FACESAT_LAUNCH(pad_kernel<Pass>, grid_of(size, naive_width, naive_height), block, stream, pass,
                   copy, size);
    pass.input_pitch = size.width;
    pass.input = copy + pass.radius.y * pass.input_pitch + pass.radius.x;
    FACESAT_LAUNCH(padded_kernel<Pass>, grid_of(pass.size, naive_width, naive_height), block,
                   stream, pass);
  });
}

}  // namespace

const FilterAlgorithm lecture_2d_padded{
    .id = "lecture_2d_padded",
    .title = "A kernel that pads the picture first",
    .source = "lecture",
    .reads = reads,
    .launches = 2,
    .workspace_bytes = workspace_bytes,
    .enqueue = enqueue,
};

}  // namespace facesat::gpu
