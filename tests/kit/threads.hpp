// Work of several threads at once.
#pragma once

#include <thread>
#include <vector>

namespace facesat::test {

// Calls work(t) in thread t of this many, and waits for all of them.
template <class Work>
void in_threads(int count, Work work) {
  std::vector<std::jthread> threads;
  for (int t = 0; t < count; ++t) threads.emplace_back(work, t);
}

}  // namespace facesat::test
