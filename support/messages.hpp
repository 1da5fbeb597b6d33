// What the program prints.
#pragma once

#include <string>
#include <string_view>

namespace facesat {

// Writes to standard output. Throws OutputError, ClosedPipe.
void print(std::string_view text);

// From now on only say() writes to standard error. The codec libraries print messages of their own
// there, which do not name the file and break the progress line. (Does nothing in sanitizer builds,
// whose reports must be seen.)
void keep_standard_error_to_ourselves();

// Writes to standard error, unchanged. Never fails: there may be no reader.
void say(std::string_view text);

// Writes a line, which may contain file names and other untrusted text: see printable().
void say_line(std::string_view line);

bool standard_error_is_terminal();

}  // namespace facesat
