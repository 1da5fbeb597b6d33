// Others' code that is measured beside the collection: what a user has without it.
#pragma once

#include <string>

#include "core/error.hpp"
#include "kernels/sat/algorithm.hpp"

namespace facesat::gpu {

// They keep the contract of kernels/sat/algorithm.hpp, but stand in no registry.
extern const SatAlgorithm peer_cub, peer_npp;

// Why NPP cannot make such tables here, in a sentence; empty if it can. Only then peer_npp may be
// enqueued.
std::string why_no_npp(SatType type, bool squares);

// NPP refused a call.
struct NppError : DeviceError {
  using DeviceError::DeviceError;
};

}  // namespace facesat::gpu
