// How much memory this process may still use, so that work too large for the machine is refused
// with a message instead of being killed by the system half-way.
#pragma once

#include <cstdint>

namespace facesat {

// Bytes that can still be allocated without swapping: the smallest of what the kernel calls
// available, what the control group leaves, and what the address-space limit leaves. A limit that
// cannot be read counts as the largest value.
std::uint64_t available_memory();

// Throws MemoryError if `bytes` exceeds available_memory(). `what_for` completes the sentence
// "<what_for> needs N bytes of memory, ...".
void require_memory(std::uint64_t bytes, const char* what_for);

}  // namespace facesat
