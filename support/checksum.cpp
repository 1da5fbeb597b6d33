#include "support/checksum.hpp"

#include <algorithm>
#include <cstring>

namespace facesat {

// Takes eight bytes at a time and multiplies by an odd constant (2^64 divided by the golden ratio).
// Multiplication propagates bits only upwards, so the shift mixes the upper half into the lower
// one.
std::uint64_t checksum(std::string_view bytes, std::uint64_t seed) {
  std::uint64_t hash = seed ^ bytes.size();
  while (!bytes.empty()) {
    const std::size_t count = std::min<std::size_t>(bytes.size(), 8);
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), count);
    hash = (hash ^ word) * 0x9E3779B97F4A7C15;
    hash ^= hash >> 32;
    bytes.remove_prefix(count);
  }
  return hash;
}

}  // namespace facesat
