// Standard input, output and error of a program that was started without them.
#pragma once

namespace facesat::app {

// Occupies the standard descriptors that are closed, so that no file opened later gets their
// numbers, and with them what is meant for standard output or error. Reading from or writing to
// them fails as it does with closed ones; messages go nowhere. To be called before any file is
// opened.
void occupy_standard_descriptors();

}  // namespace facesat::app
