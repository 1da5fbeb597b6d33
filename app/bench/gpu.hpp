// Whether there is a GPU to measure.
#pragma once

#include <string>

namespace facesat::app {

// A sentence that says why there is no GPU; empty if there is one. Throws UsageError if there are
// GPUs, but none with the number `device`.
std::string why_no_gpu(int device);

}  // namespace facesat::app
