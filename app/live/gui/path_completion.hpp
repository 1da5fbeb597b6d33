// Completes paths that are being typed. Folders are read in a thread, because that can take long.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "app/live/threads.hpp"

namespace facesat::app {

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

}  // namespace facesat::app
