// What the program says on standard error.
#pragma once

#include <string>
#include <string_view>

namespace facesat::app {

// From now on only say() reaches standard error. The codec libraries print remarks of their own
// there, which name no file and break the progress line. (Not in sanitizer builds: reports must be
// seen.)
void keep_standard_error_to_ourselves();

// Writes text as it is. Never fails: nobody may be reading.
void say(std::string_view text);

// Writes a line, which may hold names from outside: see printable().
void say_line(std::string_view line);

bool standard_error_is_terminal();

}  // namespace facesat::app
