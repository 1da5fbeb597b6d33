// Text from outside (names of files, parts of their contents) on its way to a terminal.
#pragma once

#include <string>
#include <string_view>

namespace facesat {

// The text on one line that no terminal can act on: control characters (of ASCII and of Unicode)
// and bytes that are not UTF-8 become "\\xNN" each.
std::string printable(std::string_view text);

// Is all of it well-formed UTF-8?
bool is_utf8(std::string_view text);

}  // namespace facesat
