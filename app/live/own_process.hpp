// Another command of this program, in a process of its own, while the window goes on.
#pragma once

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
  void stop() const { process_->stop(); }
  // Once, after the end: an empty text if all went well, else what went wrong.
  std::optional<std::string> take_end() { return end_.take(); }

 private:
  const std::string command_;  // its first argument
  mutable std::mutex mutex_;
  std::string line_;
  Mailbox<std::string> end_;
  std::optional<ChildProcess> process_;  // last: it uses all of the above
};

}  // namespace facesat::app
