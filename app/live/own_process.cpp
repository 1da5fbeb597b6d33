#include "app/live/own_process.hpp"

#include <fmt/format.h>

#include "app/live/gui/screen.hpp"

namespace facesat::app {

OwnProcess::OwnProcess(const std::string& program, std::vector<std::string> arguments)
    : command_(arguments.front()) {
  arguments.insert(arguments.begin(), program);
  process_.emplace(
      std::move(arguments), Stream::errors,
      [this](const std::string& line) {
        const std::scoped_lock lock(mutex_);
        line_ = line;
        Screen::wake();
      },
      [this](int status) {
        end_.put(end_with(status));
        Screen::wake();
      });
}

OwnProcess::End OwnProcess::end_with(int status) const {
  End end{.status = status, .was_stopped = was_stopped_, .problem = {}};
  if (status == 0) return end;
  end.problem = line();
  if (end.problem.empty()) end.problem = fmt::format("'facesat {}' could not be run", command_);
  return end;
}

std::string OwnProcess::line() const {
  const std::scoped_lock lock(mutex_);
  return line_;
}

}  // namespace facesat::app
