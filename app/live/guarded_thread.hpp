// A thread that no exception can end, and with it the program.
#pragma once

#include <exception>
#include <functional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include "library/support/errors.hpp"

namespace facesat::app {

class GuardedThread {
 public:
  // Calls step() again and again until the destructor asks it to stop. What a step throws goes to
  // report(), in the same thread and as a sentence, and the next step follows: a step must take its
  // work away before it can fail, and wait where there is none.
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
      } catch (...) {  // not even memory for the sentence: the next step may do better
      }
    }
  }

  std::jthread thread_;
};

}  // namespace facesat::app
