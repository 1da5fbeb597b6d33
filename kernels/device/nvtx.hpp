// Named ranges on the time line of NVIDIA's profilers; without one attached they cost nothing.
#pragma once

#include <nvtx3/nvToolsExt.h>

namespace facesat::gpu {

class NvtxRange {
 public:
  explicit NvtxRange(const char* name) { nvtxRangePushA(name); }
  ~NvtxRange() { nvtxRangePop(); }
  NvtxRange(const NvtxRange&) = delete;
  NvtxRange& operator=(const NvtxRange&) = delete;
};

}  // namespace facesat::gpu
