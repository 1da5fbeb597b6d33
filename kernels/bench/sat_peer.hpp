// Third-party code that is measured alongside our collection of SAT (summed area table) algorithms:
// what users have without the collection.
#pragma once

#include <string>

#include "kernels/sat/algorithm.hpp"
#include "library/facesat.hpp"

namespace facesat::gpu {

// CUB and NPP. Both fulfil the contract of kernels/sat/algorithm.hpp, but are not in its registry.
extern const SatAlgorithm peer_cub, peer_npp;

// A sentence that says why NPP cannot make tables of this type (and, with `squares`, the squared
// integral image) on this machine; empty if it can. peer_npp may be enqueued only if it is empty.
std::string why_no_npp(SatType type, bool squares);

// NPP refused a call.
struct NppError : DeviceError {
  using DeviceError::DeviceError;
};

}  // namespace facesat::gpu
