// Another command of this program, in a process of its own, while the window goes on.
#pragma once

#include <atomic>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "app/common/child_process.hpp"
#include "app/live/threads.hpp"

namespace facesat::app {

class OwnProcess {
 public:
  // Starts the command that the arguments begin with. `program`: facesat.
  OwnProcess(const std::string& program, std::vector<std::string> arguments);

  std::string line() const;  // the newest one of its messages
  void stop() {
    was_stopped_ = true;
    process_->stop();
  }

  struct End {
    int status = 0;  // of the program; -1: it could not be started, or was ended by a signal
    bool was_stopped = false;
    std::string problem;  // a sentence; empty with status 0
  };
  std::optional<End> take_end() { return end_.take(); }  // once, after the end

 private:
  End end_with(int status) const;

  const std::string command_;  // its first argument
  std::atomic<bool> was_stopped_ = false;
  mutable std::mutex mutex_;
  std::string line_;
  Mailbox<End> end_;
  std::optional<ChildProcess> process_;  // last: it uses all of the above
};

}  // namespace facesat::app
