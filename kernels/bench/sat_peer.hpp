// Third-party code that is measured alongside the collection: what a user has without it.
#pragma once

#include <string>

#include "core/error.hpp"
#include "kernels/sat/algorithm.hpp"

namespace facesat::gpu {

// They fulfil the contract of kernels/sat/algorithm.hpp, but are not in the registry.
extern const SatAlgorithm peer_cub, peer_npp;

// A sentence that says why NPP cannot make such tables here; empty if it can. Only if it is empty
// may peer_npp be enqueued.
std::string why_no_npp(SatType type, bool squares);

// NPP refused a call.
struct NppError : DeviceError {
  using DeviceError::DeviceError;
};

}  // namespace facesat::gpu
