// Recognises pictures by their first bytes, where no name says what they are.
#pragma once

#include <string_view>

namespace facesat {

enum class Match { no, yes, unknown };  // unknown: the beginning is too short to tell

// Does a file with this beginning hold a picture? (Not every build can decode all of them.) Text,
// such as a list of paths, is not taken for one.
Match match_picture(std::string_view beginning);

}  // namespace facesat
