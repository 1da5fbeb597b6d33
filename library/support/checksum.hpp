// Tells whether bytes are still those that were written; no protection against intent.
#pragma once

#include <cstdint>
#include <string_view>

namespace facesat {

// 64 bits. `seed`: of what came before, if bytes come in parts.
std::uint64_t checksum(std::string_view bytes, std::uint64_t seed = 0);

}  // namespace facesat
