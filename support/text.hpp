// Text from outside: file names and file contents, for output on a terminal, and sizes as the user
// types them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/image.hpp"

namespace facesat {

// The text as one line without effects on a terminal: each byte of a control character (of ASCII or
// Unicode), and each byte that is not UTF-8, becomes "\\xNN".
std::string printable(std::string_view text);

// Is the whole text well-formed UTF-8?
bool is_utf8(std::string_view text);

std::string plural(std::size_t count, std::string_view noun);  // "1 image", "2 images"

// The size in a text "N" or "WxH". Throws UsageError unless it is one in pixels, each side 0 or
// more.
Size parse_size(const std::string& text);

}  // namespace facesat
