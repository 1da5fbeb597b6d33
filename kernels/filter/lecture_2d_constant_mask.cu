// Two-dimensional convolution with the mask in constant memory.
//
// Idea: all threads of a warp need the same weight at the same time, which constant memory delivers
//   from a cache of its own.
// Shapes: blocks of 32 x 8 threads; masks of at most 4096 weights.
// Reads per pixel: one for each weight, without the weights themselves.
// Launches: 1.
// Workspace: none.
// Source: lecture on convolution and integral images, "2D convolution: trick".
// Departs from it in: the mask is a parameter of the kernel, which lies in constant memory, instead
//   of a __constant__ variable, so that calls in two streams do not overwrite each other's mask.
#include <cstring>

#include "kernels/filter/naive.cuh"

namespace facesat::gpu {
namespace {

// Parameters have 4 KB in all on GPUs before Volta and with CUDA before 12.1, then 32 KB.
template <class Weight>
struct ConstantMask {
  static constexpr int most_weights = 4096;
  Weight weights[most_weights];
};

template <class Pass>
__global__ void __launch_bounds__(naive_width* naive_height)
    constant_mask_kernel(Pass pass, FACESAT_PARAMETER(ConstantMask<typename Pass::Sum>) mask) {
  const auto [x, y] = place_of_thread();
  if (!pass.has(x, y)) return;
  pass.store(x, y, convolved(pass, x, y, [&](int i) { return mask.weights[i]; }));
}

std::string why_not_constant(const FilterTask& task) {
  return task.mask.radius.area() > ConstantMask<float>::most_weights ? "at most 4096 weights" : "";
}

void enqueue(const FilterTask& task, void*, StreamHandle stream) {
  with_pass(task, [&]<class Pass>(const Pass& pass) {
    ConstantMask<typename Pass::Sum> mask;
    std::memcpy(mask.weights, task.mask.host_weights,
                static_cast<std::size_t>(task.mask.radius.area()) * sizeof(mask.weights[0]));
    FACESAT_LAUNCH(constant_mask_kernel<Pass>, grid_of(pass.size, naive_width, naive_height),
                   dim3(naive_width, naive_height), stream, pass, mask);
  });
}

}  // namespace

const FilterAlgorithm lecture_2d_constant_mask{
    .id = "lecture_2d_constant_mask",
    .title = "The mask in constant memory",
    .source = "lecture",
    .why_not = why_not_constant,
    .reads = reads_of_window,
    .workspace_bytes = no_workspace,
    .enqueue = enqueue,
};

}  // namespace facesat::gpu
