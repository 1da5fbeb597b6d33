// Ctrl+C, SIGTERM and SIGHUP: the first signal requests a clean end; one that arrives more than a
// second later ends the program at once.
#pragma once

namespace facesat {

// From now on the first SIGINT, SIGTERM or SIGHUP only sets interrupted(). A SIGHUP that is
// ignored, as under nohup, stays ignored. Writing to a closed pipe or past the file size limit
// becomes an ordinary error.
void catch_interrupts();

// Ends the program as cleanly for another reason: interrupted() becomes true.
void request_end();

bool interrupted();  // was one of these signals caught, or the end requested?

// End the program as the caught signal would have, or as SIGPIPE would have, so that the parent
// process sees why.
[[noreturn]] void end_as_interrupted();
[[noreturn]] void end_as_closed_pipe();

}  // namespace facesat
