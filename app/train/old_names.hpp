// The options of opencv_createsamples and opencv_traincascade, under whose names those of facesat
// can be given, too.
#pragma once

#include <string>
#include <vector>

namespace facesat::app {

// The arguments of the program (without its own name) with the names that the options have here.
// Says what differs, on standard error. Throws UsageError for what has no counterpart, and, in the
// commands that have old names, for long options with a single dash that are none.
std::vector<std::string> with_new_names(std::vector<std::string> arguments);

}  // namespace facesat::app
