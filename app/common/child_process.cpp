#include "app/common/child_process.hpp"

#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <utility>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace facesat::app {
namespace {

// A running process, and the end of a pipe to read what it writes. process: 0 if it did not start.
struct Started {
  pid_t process = 0;
  int pipe = -1;
};

// For exec: pointers into `command`, which must outlive them.
std::vector<char*> arguments_of(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  for (const std::string& argument : command)
    arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  return arguments;
}

Started start(const std::vector<std::string>& command, Stream stream) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return {};
  const std::vector<char*> arguments = arguments_of(command);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1],
                                   stream == Stream::output ? STDOUT_FILENO : STDERR_FILENO);
  pid_t process = 0;
  if (::posix_spawnp(&process, arguments[0], &actions, nullptr, arguments.data(), environ) != 0)
    process = 0;
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  if (process != 0) return {process, ends[0]};
  ::close(ends[0]);
  return {};
}

// Calls on_line() with each line, until the other end of the pipe is closed.
void read_lines(int pipe, const std::function<void(const std::string&)>& on_line) {
  std::string text;
  std::array<char, 4096> block{};
  for (ssize_t size; (size = ::read(pipe, block.data(), block.size())) > 0;) {
    text.append(block.data(), static_cast<std::size_t>(size));
    for (std::size_t end; (end = text.find('\n')) != text.npos; text.erase(0, end + 1))
      on_line(text.substr(0, end));
  }
  if (!text.empty()) on_line(text);
}

}  // namespace

ChildProcess::ChildProcess(std::vector<std::string> command, Stream stream,
                           std::function<void(const std::string& line)> on_line,
                           std::function<void(int status)> on_end) {
  const Started started = start(command, stream);
  process_ = started.process;
  thread_ = std::jthread([this, started, on_line = std::move(on_line), on_end = std::move(on_end)] {
    int result = -1;
    if (started.process != 0) {
      read_lines(started.pipe, on_line);
      ::close(started.pipe);
      siginfo_t ignored{};
      // Leaves the process as it is, so that its number stays its own until process_ is cleared.
      ::waitid(P_PID, static_cast<id_t>(started.process), &ignored, WEXITED | WNOWAIT);
      process_ = 0;
      int status = 0;
      if (::waitpid(started.process, &status, 0) == started.process && WIFEXITED(status))
        result = WEXITSTATUS(status);
    }
    has_ended_ = true;
    on_end(result);
  });
}

ChildProcess::~ChildProcess() {
  stop();
}

void ChildProcess::stop() const {
  if (const int process = process_; process > 0) ::kill(process, SIGTERM);
}

void start_detached(std::vector<std::string> command) {
  command.insert(command.begin(), {"setsid", "--fork"});  // of util-linux; it ends at once
  const std::vector<char*> arguments = arguments_of(command);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_RDWR, 0);
  pid_t process = 0;
  if (::posix_spawnp(&process, arguments[0], &actions, nullptr, arguments.data(), environ) == 0)
    ::waitpid(process, nullptr, 0);
  posix_spawn_file_actions_destroy(&actions);
}

bool is_installed(const std::string& program) {
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (::access((std::filesystem::path(folder) / program).c_str(), X_OK) == 0) return true;
  return false;
}

}  // namespace facesat::app
