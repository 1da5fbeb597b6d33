// The list of sources that the window plays one after the other.
#pragma once

#include <string>
#include <vector>

namespace facesat::app {

struct PlaylistEntry {
  std::string source;  // as open_source() takes it
  std::string name;    // as shown: of a file in a folder, relative to that
};

// The sources with these names: cameras, streams, files, and in place of a folder its pictures and
// videos in the order of their names; "@FILE" stands for a list of paths. Throws InputError or
// UsageError for what cannot be read, unless other entries remain.
std::vector<PlaylistEntry> make_playlist(const std::vector<std::string>& names);

}  // namespace facesat::app
