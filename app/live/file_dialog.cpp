#include "app/live/file_dialog.hpp"

#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/live/screen.hpp"

namespace facesat::app {
namespace {

bool is_installed(const std::string& program) {
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (::access((std::filesystem::path(folder) / program).c_str(), X_OK) == 0) return true;
  return false;
}

// A running process, and the end of a pipe to read what it writes. process: 0 if it did not start.
struct Started {
  pid_t process = 0;
  int output = -1;
};

Started start(const std::vector<std::string>& command) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return {};
  std::vector<char*> arguments;
  for (const std::string& argument : command)
    arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  pid_t process = 0;
  if (::posix_spawnp(&process, arguments[0], &actions, nullptr, arguments.data(), environ) != 0)
    process = 0;
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  if (process != 0) return {process, ends[0]};
  ::close(ends[0]);
  return {};
}

// The lines that the process writes until it ends. Takes the descriptor.
std::vector<std::string> lines_of(const Started& started) {
  std::string text;
  std::array<char, 4096> block{};
  for (ssize_t size; (size = ::read(started.output, block.data(), block.size())) > 0;)
    text.append(block.data(), static_cast<std::size_t>(size));
  ::close(started.output);
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);)
    if (!line.empty()) lines.push_back(line);
  return lines;
}

}  // namespace

std::vector<std::string> dialog_command(std::string_view program, Choosing what) {
  std::vector<std::string> command{std::string(program)};
  const auto add = [&](std::initializer_list<const char*> more) {
    command.insert(command.end(), more.begin(), more.end());
  };
  if (program == "zenity") {
    add({"--file-selection", "--title=facesat"});
    if (what == Choosing::files) add({"--multiple", "--separator=\n"});
    if (what != Choosing::files) add({"--directory"});
  } else if (what == Choosing::files) {
    add({"--title", "facesat", "--multiple", "--separate-output", "--getopenfilename", "."});
  } else {
    add({"--title", "facesat", "--getexistingdirectory", "."});
  }
  return command;
}

FileDialog::FileDialog() {
  for (const char* const program : {"zenity", "kdialog"})
    if (program_.empty() && is_installed(program)) program_ = program;
}

FileDialog::~FileDialog() {
  if (const int process = process_; process > 0) ::kill(process, SIGTERM);
}

void FileDialog::open(Choosing what) {
  if (!is_available() || is_open()) return;
  is_done_ = false;
  thread_ = std::jthread([this, command = dialog_command(program_, what)] {
    if (const Started started = start(command); started.process != 0) {
      process_ = started.process;
      std::vector<std::string> lines = lines_of(started);
      process_ = 0;  // before its number is free for another process
      int status = 0;
      ::waitpid(started.process, &status, 0);
      if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && !lines.empty())
        chosen_.put(std::move(lines));
    }
    is_done_ = true;
    Screen::wake();
  });
}

}  // namespace facesat::app
