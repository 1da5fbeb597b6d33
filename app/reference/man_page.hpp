// The manual page, facesat(1).
#pragma once

#include <string>

#include "app/reference/command_list.hpp"

namespace facesat::app {

// The page in the language of man(7). `page` has everything that the command line does not know;
// "@VERSION@" in it is replaced by the version, and the lines "@SYNOPSIS@" and "@COMMANDS@" by what
// the commands and their options are. Throws ArgumentError if one of them is missing.
std::string man_page(std::string page, const std::vector<CommandText>& commands);

}  // namespace facesat::app
