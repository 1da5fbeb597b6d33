// Small pictures of sources: of a file its first frame, of a folder that of its first picture or
// video. They are read in a thread, because that can take long.
#pragma once

#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "app/live/gui/picture_view.hpp"
#include "app/live/threads.hpp"

namespace facesat::app {

class Thumbnails {
 public:
  Thumbnails();

  // The picture of this file or folder; null: it is not there yet, or there is none. Must be called
  // by the thread that has the OpenGL context, if there is one.
  const Texture* of(const std::string& source);

  // Reads them anew when they are asked for next.
  void forget();

 private:
  struct Read {
    std::string source;
    Image<Bgr> picture;
  };
  void run_once(const std::stop_token& stop);

  std::set<std::string> asked_;
  std::map<std::string, Texture> textures_;

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::vector<std::string> wanted_;
  std::vector<Read> read_;
  GuardedThread thread_;  // last: it uses all of the above
};

}  // namespace facesat::app
