#include "support/interrupt.hpp"

#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <initializer_list>

namespace facesat {
namespace {

volatile std::sig_atomic_t caught = 0;
std::atomic<std::int64_t> caught_at = 0;  // milliseconds
std::atomic<bool> end_requested = false;
static_assert(std::atomic<std::int64_t>::is_always_lock_free, "a signal handler writes it");

// timeout(1) sends its signal to the program and to its process group: two signals that arrive
// within this time count as one.
constexpr std::int64_t together_ms = 1000;

void remember(int signal_number) {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  const std::int64_t at = now.tv_sec * std::int64_t{1000} + now.tv_nsec / 1'000'000;
  if (caught == 0) {
    caught_at = at;
    caught = signal_number;
  } else if (at - caught_at > together_ms) {
    std::signal(signal_number, SIG_DFL);
    std::raise(signal_number);  // takes effect when this handler returns
  }
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
  action.sa_flags = 0;  // no SA_RESTART: a blocked read must return
  for (const int signal_number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before {};
    const bool is_ignored = ::sigaction(signal_number, nullptr, &before) == 0 &&
                            before.sa_handler == SIG_IGN;  // nohup sets this for SIGHUP
    if (!is_ignored || signal_number != SIGHUP) ::sigaction(signal_number, &action, nullptr);
  }
  for (const int signal_number : {SIGPIPE, SIGXFSZ}) std::signal(signal_number, SIG_IGN);
}

void request_end() {
  end_requested = true;
}
bool interrupted() {
  return caught != 0 || end_requested;
}
void end_as_interrupted() {
  end_by(caught);
}
void end_as_closed_pipe() {
  end_by(SIGPIPE);
}

}  // namespace facesat
