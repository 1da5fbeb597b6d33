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
        const std::string last = line();
        end_.put(status == 0    ? std::string()
                 : last.empty() ? fmt::format("'facesat {}' could not be run", command_)
                                : last);
        Screen::wake();
      });
}

std::string OwnProcess::line() const {
  const std::scoped_lock lock(mutex_);
  return line_;
}

}  // namespace facesat::app
