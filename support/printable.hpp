// Untrusted text (file names, parts of file contents) for output on a terminal.
#pragma once

#include <string>
#include <string_view>

namespace facesat {

// The text as one line without effects on a terminal: each byte of a control character (of ASCII or
// Unicode), and each byte that is not UTF-8, becomes "\\xNN".
std::string printable(std::string_view text);

// Is the whole text well-formed UTF-8?
bool is_utf8(std::string_view text);

}  // namespace facesat
