#include "support/messages.hpp"

#include <fcntl.h>
#include <unistd.h>

#include "support/files.hpp"
#include "support/text.hpp"

namespace facesat {
namespace {

int descriptor = STDERR_FILENO;  // that say() writes to

}  // namespace

void keep_standard_error_to_ourselves() {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  if (descriptor != STDERR_FILENO) return;
  const int ours = ::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);  // not 0 .. 2
  const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (ours >= 0 && nowhere >= 0 && ::dup2(nowhere, STDERR_FILENO) >= 0) descriptor = ours;
  if (nowhere >= 0) ::close(nowhere);
#endif
}

void print(std::string_view text) {
  write_all(1, text, "standard output");
}

void say(std::string_view text) {
  const char* at = text.data();
  for (std::size_t left = text.size(); left > 0;) {
    const ssize_t written = ::write(descriptor, at, left);
    if (written <= 0) return;
    at += written;
    left -= static_cast<std::size_t>(written);
  }
}

void say_line(std::string_view line) {
  say(printable(line) + "\n");
}

bool standard_error_is_terminal() {
  return ::isatty(descriptor) != 0;
}

}  // namespace facesat
