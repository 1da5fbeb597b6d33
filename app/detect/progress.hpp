// Shows progress and messages on standard error. Messages never mix with the progress line.
#pragma once

#include <atomic>
#include <chrono>
#include <mutex>
#include <string>
#include <thread>

#include "results/inputs.hpp"
#include "results/shard.hpp"

namespace facesat::app {

struct Counts {
  std::size_t inputs = 0;   // pictures and videos finished, including those of earlier runs
  std::size_t skipped = 0;  // those finished by earlier runs
  std::size_t records = 0;  // pictures and frames processed in this run
  std::size_t faces = 0;
  std::size_t failures = 0;
  std::size_t warnings = 0;
};

class Progress {
 public:
  // `shown`: whether the progress line is shown; messages always are.
  explicit Progress(bool shown) : shown_(shown) {}
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Counts the inputs of this shard in a background thread; until it is done, neither the total nor
  // the remaining time is shown.
  void count_in_background(Inputs inputs, const Shard& shard);
  // There are that many inputs.
  void expect(std::size_t total) { total_ = total; }

  // Shows the numbers, at most ten times a second (once a second if standard error is not a
  // terminal).
  void update(const Counts& counts);
  // Prints a line of its own, which may contain file names and other untrusted text.
  void message(const std::string& line);
  // Erases the progress line.
  void finish();

 private:
  using Clock = std::chrono::steady_clock;
  void erase();

  bool shown_;
  bool line_open_ = false;  // the progress line is on the terminal
  std::mutex mutex_;
  std::jthread counter_;
  std::atomic<std::size_t> total_{0};                // 0: not counted yet
  Clock::time_point start_ = Clock::now(), last_{};  // last_: when the numbers were last shown
};

// "12 images, 34 faces, 1 failure, 1 warning in 2.5 s"
std::string summary(const Counts& counts, std::chrono::duration<double> time);

// The entries of folders that the run skipped, in words; empty if there are none.
std::string summary(const Inputs::Skipped& found);

}  // namespace facesat::app
