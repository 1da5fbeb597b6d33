// Matroska and WebM files tell their size, which a reader needs to notice that one was cut off: the
// length that players show is an estimate, and says nothing of where the first frame begins.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace facesat {

bool is_matroska(std::string_view beginning);

// How many bytes the whole file has, from its first 128; nothing if it does not tell.
std::optional<std::uint64_t> matroska_size(std::string_view beginning);

}  // namespace facesat
