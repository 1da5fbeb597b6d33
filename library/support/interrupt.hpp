// Ctrl+C, SIGTERM and SIGHUP: the first signal requests a clean end; one that arrives more than a
// second later ends the program at once.
#pragma once

namespace facesat {

// From now on the first SIGINT, SIGTERM or SIGHUP (unless ignored, as under nohup) only sets
// interrupted(). Writing to a closed pipe or past the file size limit becomes an ordinary error.
void catch_interrupts();

bool interrupted();

// End the program as the caught signal (or SIGPIPE) would have, so that callers see why.
[[noreturn]] void end_as_interrupted();
[[noreturn]] void end_as_closed_pipe();

}  // namespace facesat
