// A CUDA stream, without CUDA headers.
#pragma once

struct CUstream_st;

namespace facesat::gpu {

using StreamHandle = CUstream_st*;  // cudaStream_t

}  // namespace facesat::gpu
