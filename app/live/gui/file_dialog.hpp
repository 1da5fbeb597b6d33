// The desktop's own dialog for choosing files: zenity or kdialog, where one is installed.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/common/child_process.hpp"
#include "app/live/threads.hpp"

namespace facesat::app {

enum class Choosing { files, folder };

class FileDialog {
 public:
  FileDialog();

  bool is_available() const { return !program_.empty(); }
  bool is_open() const { return process_ && !process_->has_ended(); }

  // Opens the dialog, in a process of its own, and returns at once. Only if none is open.
  void open(Choosing what);
  // What was chosen, once; empty lists (the dialog was cancelled) are not reported.
  std::optional<std::vector<std::string>> take() { return chosen_.take(); }

 private:
  std::string program_;  // "zenity", "kdialog" or ""
  Mailbox<std::vector<std::string>> chosen_;
  std::optional<ChildProcess> process_;  // last: it uses chosen_
};

// The command line of the dialog.
std::vector<std::string> dialog_command(std::string_view program, Choosing what);

}  // namespace facesat::app
