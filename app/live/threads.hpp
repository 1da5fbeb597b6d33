// What the threads of the window are made of: a thread that survives exceptions, and a place where
// one thread leaves something for another.
#pragma once

#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include "support/errors.hpp"

namespace facesat::app {

// An exception that leaves a thread would end the program; this thread goes on.
class GuardedThread {
 public:
  // Calls step() repeatedly until the destructor requests a stop. An exception from a step is
  // passed to report() as a sentence, in the same thread, and the next step follows. So a step must
  // consume its work before it can fail, and wait if there is none.
  GuardedThread(std::function<void(const std::stop_token&)> step,
                std::function<void(const std::string& reason)> report)
      : thread_([step = std::move(step), report = std::move(report)](const std::stop_token& stop) {
          while (!stop.stop_requested()) guard([&] { step(stop); }, report);
        }) {}

 private:
  template <class Step, class Report>
  static void guard(const Step& step, const Report& report) {
    try {
      step();
    } catch (...) {
      const std::exception_ptr error = std::current_exception();
      try {
        report(reason_of(error));
      } catch (...) {  // no memory even for the sentence: the next step may succeed
      }
    }
  }

  std::jthread thread_;
};

// A single place between two threads: a new value replaces one that was not taken, so that nothing
// queues up.
template <class T>
class Mailbox {
 public:
  void put(T value) {
    const std::scoped_lock lock(mutex_);
    value_ = std::move(value);
  }

  // Never waits.
  std::optional<T> take() {
    const std::scoped_lock lock(mutex_);
    return std::exchange(value_, std::nullopt);
  }

 private:
  std::mutex mutex_;
  std::optional<T> value_;
};

}  // namespace facesat::app
