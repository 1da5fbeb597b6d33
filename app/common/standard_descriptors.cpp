#include "app/common/standard_descriptors.hpp"

#include <initializer_list>

#include <fcntl.h>
#include <unistd.h>

namespace facesat::app {

// open() returns the lowest free number, so going upwards fills each gap with the right number.
void occupy_standard_descriptors() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) >= 0) continue;
    // Standard input is opened for writing only and standard output for reading only, so that their
    // use fails. Standard error is opened for writing: messages vanish.
    const bool can_be_written = descriptor != STDOUT_FILENO;
    // Without /dev/null, the descriptor stays closed.
    [[maybe_unused]] const int opened = ::open("/dev/null", can_be_written ? O_WRONLY : O_RDONLY);
  }
}

}  // namespace facesat::app
