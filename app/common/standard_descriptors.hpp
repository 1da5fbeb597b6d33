// For programs that were started with standard input, output or error closed.
#pragma once

namespace facesat::app {

// Occupies the standard file descriptors that are closed, so that no file opened later gets one of
// these numbers and receives what is meant for standard output or error. Afterwards, reading
// standard input and writing standard output still fail, and what is written to standard error is
// discarded. To be called before any file is opened.
void occupy_standard_descriptors();

}  // namespace facesat::app
