// Matroska and WebM files contain their size in bytes, which shows whether a file was cut off.
// Their duration does not show it: it is an estimate, and does not say where the first frame
// begins.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace facesat {

bool is_matroska(std::string_view beginning);

// The size in bytes of the whole file, from its first 128 bytes; nullopt if they do not contain it.
std::optional<std::uint64_t> matroska_size(std::string_view beginning);

}  // namespace facesat
