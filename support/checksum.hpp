// Detects whether bytes have changed since they were written; no protection against deliberate
// changes.
#pragma once

#include <cstdint>
#include <string_view>

namespace facesat {

// A 64-bit checksum. `seed`: the checksum of the preceding part, if the bytes come in parts.
std::uint64_t checksum(std::string_view bytes, std::uint64_t seed = 0);

}  // namespace facesat
