// Small pictures of sources: of a file its first frame, of a folder that of its first picture or
// video. They are read in a thread, because that can take long.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
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
  struct Kept {
    Texture texture;
    std::uint64_t used = 0;  // the number of the call that asked for it last
  };
  static constexpr std::size_t most = 1000;  // pictures: more than a screen has room for

  void make_room();
  void run_once(const std::stop_token& stop);

  std::set<std::string> asked_;
  std::map<std::string, Kept> textures_;
  std::uint64_t uses_ = 0;

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::vector<std::string> wanted_;
  std::vector<Read> read_;
  GuardedThread thread_;  // last: it uses all of the above
};

// A button: the picture, if there is one, in the middle of a square, and the end of the name below
// it. Returns true if it is pressed.
bool draw_tile(const std::string& name, const Texture* picture, float side);
float tile_height(float side);

}  // namespace facesat::app
