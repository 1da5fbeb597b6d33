// Ctrl-C and SIGTERM: the first asks for a clean end; one that comes more than a second later ends
// at once.
#pragma once

namespace facesat {

// From now on the first SIGINT or SIGTERM only sets interrupted(). Writing to a closed pipe or
// beyond the file size limit becomes an error like others.
void catch_interrupts();

bool interrupted();

// Ends the program as the signal that was caught would have (or SIGPIPE), so that callers see why.
[[noreturn]] void end_as_interrupted();
[[noreturn]] void end_as_closed_pipe();

}  // namespace facesat
