// Waiting for what must come, however busy the machine is.
#pragma once

#include <chrono>
#include <thread>

namespace facesat::test {

// Far more than anything takes: only what never comes reaches it.
constexpr std::chrono::seconds patience{240};

// Waits until `done`; false: it never was.
template <class Done>
bool eventually(Done done) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (!done()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

}  // namespace facesat::test
