// Ctrl+C, and other signals that Python handles, during a call that has released the GIL.
#pragma once

#include <atomic>
#include <chrono>
#include <exception>
#include <future>
#include <thread>

#include <nanobind/nanobind.h>

namespace facesat::python {

// Belongs to the thread that makes it, which alone runs Python's handlers (and Python runs them
// only in the main thread).
class Signals {
 public:
  // Whether a handler has raised an exception. For a ShouldStop: any thread may ask.
  bool raised() {
    if (std::this_thread::get_id() == caller_) check_now_and_then();
    return raised_;
  }

  // Runs work() in another thread, because this one might wait for long without looking for
  // signals. Throws what it throws. To be called without the GIL.
  template <class Work>
  void run(const Work& work) {
    std::future<void> done = std::async(std::launch::async, work);
    while (done.wait_for(interval) == std::future_status::timeout) raised();
    done.get();
  }

  // Throws the exception of the handler, if there is one.
  void rethrow() const {
    if (exception_) std::rethrow_exception(exception_);
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds interval{50};

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
