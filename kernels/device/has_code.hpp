#pragma once

namespace facesat::gpu {

// Whether this build contains kernels that the current CUDA device can run.
bool has_code();

}  // namespace facesat::gpu
