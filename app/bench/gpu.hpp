// The GPU that is measured.
#pragma once

#include <string>

namespace facesat::app {

// Why there is no GPU, in a sentence; empty if there is one. Throws UsageError if there are GPUs,
// but none with this number.
std::string why_no_gpu(int device);

}  // namespace facesat::app
