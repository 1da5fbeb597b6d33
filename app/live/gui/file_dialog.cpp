#include "app/live/gui/file_dialog.hpp"

#include <memory>
#include <utility>

#include "app/live/gui/screen.hpp"

namespace facesat::app {

std::vector<std::string> dialog_command(std::string_view program, Choosing what) {
  std::vector<std::string> command{std::string(program)};
  const auto add = [&](std::initializer_list<const char*> more) {
    command.insert(command.end(), more.begin(), more.end());
  };
  if (program == "zenity") {
    add({"--file-selection", "--title=facesat"});
    if (what == Choosing::files) add({"--multiple", "--separator=\n"});
    if (what == Choosing::folder) add({"--directory"});
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

void FileDialog::open(Choosing what) {
  if (!is_available() || is_open()) return;
  const auto lines = std::make_shared<std::vector<std::string>>();
  process_.emplace(
      dialog_command(program_, what), Stream::output,
      [lines](const std::string& line) { lines->push_back(line); },
      [this, lines](int status) {
        if (status == 0 && !lines->empty()) chosen_.put(std::move(*lines));
        Screen::wake();
      });
}

}  // namespace facesat::app
