#include "app/live/gui/file_choice.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <utility>

#include "app/live/gui/screen.hpp"
#include "media/codec.hpp"
#include "media/frame_source.hpp"
#include "support/files.hpp"

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

namespace fs = std::filesystem;

std::string with_home(const std::string& path) {
  const char* const home = std::getenv("HOME");
  if (!home || (path != "~" && !path.starts_with("~/"))) return path;
  return home + path.substr(1);
}

Completions complete_path(const std::string& typed) {
  constexpr std::size_t most = 12;
  Completions completions;
  completions.typed = typed;
  const std::string path = with_home(typed);
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == path.npos ? "" : path.substr(0, slash + 1);
  const std::string begin = path.substr(folder.size());
  std::error_code failure;
  std::vector<std::string>& paths = completions.paths;
  for (fs::directory_iterator entry(folder.empty() ? "." : folder, failure), end;
       !failure && entry != end; entry.increment(failure)) {
    const std::string name = entry->path().filename().string();
    if (!name.starts_with(begin) || (name.front() == '.' && begin.empty())) continue;
    std::error_code ignored;
    if (entry->is_directory(ignored))
      paths.push_back(folder + name + "/");
    else if (has_extension(name, picture_extensions()) || has_extension(name, video_extensions()))
      paths.push_back(folder + name);
  }
  std::sort(paths.begin(), paths.end());
  if (!paths.empty()) {  // all that lie between the first and the last begin as these two do
    const auto [end, unused] = std::mismatch(paths.front().begin(), paths.front().end(),
                                             paths.back().begin(), paths.back().end());
    completions.common.assign(paths.front().begin(), end);
  }
  if (paths.size() > most) {
    completions.more = paths.size() - most;
    paths.resize(most);
  }
  return completions;
}

PathCompletion::PathCompletion()
    : thread_([this](const std::stop_token& stop) { run_once(stop); }, [](const std::string&) {}) {}

void PathCompletion::ask(const std::string& typed) {
  const std::scoped_lock lock(mutex_);
  typed_ = typed;
  changed_.notify_all();
}

std::shared_ptr<const Completions> PathCompletion::answer() const {
  const std::scoped_lock lock(mutex_);
  return answer_;
}

void PathCompletion::run_once(const std::stop_token& stop) {
  std::string typed;
  {
    std::unique_lock lock(mutex_);
    if (!changed_.wait(lock, stop, [this] { return typed_.has_value(); })) return;
    typed = *std::exchange(typed_, std::nullopt);
  }
  auto answer = std::make_shared<const Completions>(complete_path(typed));
  {
    const std::scoped_lock lock(mutex_);
    answer_ = std::move(answer);
  }
  Screen::wake();
}

}  // namespace facesat::app
