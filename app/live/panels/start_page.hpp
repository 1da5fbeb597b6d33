// The page that opens something: files, cameras, the demo, and what was opened recently. Files are
// chosen with the desktop's own dialog (zenity or kdialog, where one is installed), or by paths
// that are completed while they are typed; folders are read in a thread, because that can take
// long.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/common/child_process.hpp"
#include "app/live/frames/capture.hpp"
#include "app/live/panels/thumbnails.hpp"
#include "app/live/threads.hpp"
#include "media/frame_source.hpp"

namespace facesat::app {

enum class Choosing { files, folder };

// The desktop's own dialog.
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

// The paths that begin with what was typed, sorted, at most a dozen: folders (with a slash at the
// end), pictures and videos. A "~" at the beginning is the user's home.
struct Completions {
  std::string typed;
  std::vector<std::string> paths;
  std::size_t more = 0;  // than those
  std::string common;    // what all of them begin with, also those that are not among the dozen
};
Completions complete_path(const std::string& typed);

// The path with the user's home in place of "~".
std::string with_home(const std::string& path);

// Completes paths in a thread.
class PathCompletion {
 public:
  PathCompletion();

  void ask(const std::string& typed);  // returns at once
  // The newest answer; null: there is none yet.
  std::shared_ptr<const Completions> answer() const;

 private:
  void run_once(const std::stop_token& stop);

  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::optional<std::string> typed_;
  std::shared_ptr<const Completions> answer_;
  GuardedThread thread_;  // last: it uses all of the above
};

class StartPage {
 public:
  // Draws into the current window. Returns the names to open, if the user chose some; none: the
  // user wants to go back to what is open. `recent`: the last name first.
  std::optional<std::vector<std::string>> draw(const std::vector<std::string>& recent,
                                               const Capture::State& state);

  // The page is shown anew: lists the cameras, and takes what is typed from now on.
  void refresh() { is_fresh_ = false; }

 private:
  using Chosen = std::optional<std::vector<std::string>>;

  static Chosen draw_back();
  Chosen draw_files();
  Chosen draw_path();
  Chosen draw_cameras() const;
  Chosen draw_recent(const std::vector<std::string>& recent);

  FileDialog dialog_;
  PathCompletion completion_;
  Thumbnails thumbnails_;
  std::string typed_;
  std::uint64_t lists_ = 0;  // opened so far
  std::string refused_;      // why the last one was not
  std::vector<CameraInfo> cameras_;
  bool is_fresh_ = false;
  bool wants_keyboard_ = false;  // the field, in the next frame
};

// Puts a name in front of the list of recent ones, as an absolute path if it is one; at most eight
// remain.
void add_recent(std::vector<std::string>& recent, const std::string& name);

}  // namespace facesat::app
