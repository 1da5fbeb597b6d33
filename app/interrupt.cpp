#include "app/interrupt.hpp"

#include <csignal>
#include <cstdlib>
#include <initializer_list>

namespace facesat::app {
namespace {

volatile std::sig_atomic_t caught = 0;

void remember(int signal_number) {
  caught = signal_number;
}

[[noreturn]] void end_by(int signal_number) {
  std::signal(signal_number, SIG_DFL);
  std::raise(signal_number);
  std::abort();  // not reached: the default action of these signals ends the program
}

}  // namespace

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = remember;
  action.sa_flags =
      static_cast<int>(SA_RESETHAND);  // and no SA_RESTART: a blocked read must return
  for (const int signal_number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before {};
    const bool is_ignored = ::sigaction(signal_number, nullptr, &before) == 0 &&
                            before.sa_handler == SIG_IGN;  // as nohup does
    if (!is_ignored || signal_number != SIGHUP) ::sigaction(signal_number, &action, nullptr);
  }
  for (const int signal_number : {SIGPIPE, SIGXFSZ}) std::signal(signal_number, SIG_IGN);
}

bool interrupted() {
  return caught != 0;
}
void end_as_interrupted() {
  end_by(caught);
}
void end_as_closed_pipe() {
  end_by(SIGPIPE);
}

}  // namespace facesat::app
