// The desktop's own dialog for choosing files: zenity or kdialog, where one is installed.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "app/live/mailbox.hpp"

namespace facesat::app {

enum class Choosing { files, folder, folder_to_save_to };

class FileDialog {
 public:
  FileDialog();
  ~FileDialog();  // closes an open dialog

  bool is_available() const { return !program_.empty(); }
  bool is_open() const { return thread_.joinable() && !is_done_; }

  // Opens the dialog, in a process of its own, and returns at once. Only if none is open.
  void open(Choosing what);
  // What was chosen, once; empty lists (the dialog was cancelled) are not reported.
  std::optional<std::vector<std::string>> take() { return chosen_.take(); }

 private:
  std::string program_;  // "zenity", "kdialog" or ""
  Mailbox<std::vector<std::string>> chosen_;
  std::atomic<bool> is_done_ = true;
  std::atomic<int> process_ = 0;
  std::jthread thread_;  // last: it uses all of the above
};

// The command line of the dialog.
std::vector<std::string> dialog_command(std::string_view program, Choosing what);

}  // namespace facesat::app
