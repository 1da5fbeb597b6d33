// Runs another program in a process of its own, and reads what it writes.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace facesat::app {

enum class Stream { output, errors };

class ChildProcess {
 public:
  // Starts the program command[0]. A thread calls on_line() with each line that the program writes
  // to this stream, and on_end() with its exit status: -1 if it could not be started or was ended
  // by a signal.
  ChildProcess(std::vector<std::string> command, Stream stream,
               std::function<void(const std::string& line)> on_line,
               std::function<void(int status)> on_end);
  // Requests the program to end (SIGTERM), and waits until it has.
  ~ChildProcess();

  void stop() const;  // requests the program to end
  bool has_ended() const { return has_ended_; }

 private:
  std::atomic<int> process_ = 0;
  std::atomic<bool> has_ended_ = false;
  std::jthread thread_;  // last: it uses all of the above
};

// Starts a program that lives on when this one ends, and whose output nobody reads.
void start_detached(std::vector<std::string> command);

// Is there a program of this name on the PATH?
bool is_installed(const std::string& program);

}  // namespace facesat::app
