// Recursive doubling in global memory, one launch per step: the scan of Hillis and Steele, as Horn
// brought it to GPUs.
#pragma once

#include <bit>

#include "kernels/scan/pass.cuh"

namespace facesat::gpu {

constexpr int doubling_threads = 256;

// The smallest s with 2^s >= n.
inline int log2_up(int n) {
  return std::bit_width(static_cast<unsigned>(n - 1));
}

// to[i] becomes from[i - d] and from[i] combined. In the first step of an exclusive scan, the array
// is shifted by one element while it is read.
template <class Pass>
__global__ void doubling_kernel(Pass pass, const typename Pass::T* from, typename Pass::T* to,
                                int d, int shift) {
  const int i = static_cast<int>(blockIdx.x) * doubling_threads + static_cast<int>(threadIdx.x);
  if (i >= pass.n) return;
  const auto at = [&](int k) { return k >= 0 ? from[k] : pass.op.identity(); };
  to[i] = i >= d ? pass.op(at(i - d - shift), at(i - shift)) : at(i - shift);
}

// Scans pass.input into pass.output, which may be the same. `scratch` has room for 2 * pass.n
// elements. There are at least two steps, so that the first one can leave the input as it is.
inline int doubling_steps(int n) {
  return std::max(log2_up(n), 2);
}
template <class Pass>
void enqueue_recursive_doubling(const Pass& pass, typename Pass::T* scratch, StreamHandle stream) {
  const typename Pass::T* from = pass.input;
  const int steps = doubling_steps(pass.n);
  for (int step = 0; step < steps; ++step) {
    auto* const to = step + 1 == steps ? pass.output : scratch + (step % 2 ? pass.n : 0);
    FACESAT_LAUNCH(doubling_kernel<Pass>, dim3(divide_up(pass.n, doubling_threads)),
                   dim3(doubling_threads), stream, pass, from, to, 1 << step,
                   step == 0 && !pass.is_inclusive ? 1 : 0);
    from = to;
  }
}

}  // namespace facesat::gpu
