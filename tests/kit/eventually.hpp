// Waiting for something that must happen, however busy the machine is.
#pragma once

#include <chrono>
#include <thread>

#include <gtest/gtest.h>

namespace facesat::test {

// Far longer than any event takes: only a wait for what never happens lasts that long. After a
// failure the test only runs to its end.
inline std::chrono::seconds patience() {
  return std::chrono::seconds(::testing::Test::HasFailure() ? 5 : 240);
}

// Waits until done() is true. False: it was not within patience().
template <class Done>
bool eventually(Done done) {
  const auto end = std::chrono::steady_clock::now() + patience();
  while (!done()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return true;
}

}  // namespace facesat::test
