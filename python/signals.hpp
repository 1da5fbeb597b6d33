// Ctrl+C, and other signals that Python handles, during a call that has released the GIL.
#pragma once

#include <atomic>
#include <chrono>
#include <exception>
#include <thread>

#include <nanobind/nanobind.h>

namespace facesat::python {

// Belongs to the thread that makes it, which alone runs Python's handlers (and Python runs them
// only in the main thread).
class Signals {
 public:
  static constexpr std::chrono::milliseconds interval{50};

  // Whether a handler has raised an exception. For a ShouldStop: any thread may ask.
  bool raised() {
    if (std::this_thread::get_id() == caller_) check_now_and_then();
    return raised_;
  }

  // Throws the exception of the handler, if there is one.
  void rethrow() const {
    if (exception_) std::rethrow_exception(exception_);
  }

 private:
  using Clock = std::chrono::steady_clock;

  void check_now_and_then() {
    const Clock::time_point now = Clock::now();
    if (raised_ || now < next_check_) return;
    const nanobind::gil_scoped_acquire for_handlers;
    if (PyErr_CheckSignals() != 0) {
      exception_ = std::make_exception_ptr(nanobind::python_error());
      raised_ = true;
    }
    next_check_ = Clock::now() + interval;
  }

  const std::thread::id caller_ = std::this_thread::get_id();
  Clock::time_point next_check_ = Clock::now() + interval;
  std::exception_ptr exception_;
  std::atomic<bool> raised_ = false;
};

}  // namespace facesat::python
