// A CUDA stream, without a word of CUDA.
#pragma once

struct CUstream_st;

namespace facesat::gpu {

using StreamHandle = CUstream_st*;  // cudaStream_t

}  // namespace facesat::gpu
