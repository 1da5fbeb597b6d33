// facesat, the program.
#pragma once

namespace facesat::app {

// All of main(): runs the command line and returns the exit status. To be called once in a process,
// of which it takes possession: signals, standard streams, std::terminate.
int run_program(int argc, char** argv);

}  // namespace facesat::app
