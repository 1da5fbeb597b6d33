#include "app/live/frames/playlist.hpp"

#include <fmt/format.h>

#include "library/io/inputs.hpp"
#include "library/media/frame_source.hpp"
#include "library/media/source_name.hpp"
#include "library/support/errors.hpp"

namespace facesat::app {

std::vector<PlaylistEntry> make_playlist(const std::vector<std::string>& names) {
  std::vector<PlaylistEntry> entries;
  std::string failure;
  for (const std::string& name : names) {
    if (!source_path(name)) {
      entries.push_back({name, name});
      continue;
    }
    Inputs inputs({.inputs = {name}, .excluded = {}});
    while (const std::optional<Input> input = inputs.next()) {
      if (input->kind != Input::Kind::failure)
        entries.push_back({input->path.string(), input->name});
      else if (failure.empty())
        failure = fmt::format("{}: {}", input->path.string(), input->failure);
    }
  }
  if (!entries.empty()) return entries;
  if (failure.empty())
    failure = fmt::format("{}: there are no pictures and no videos in it", fmt::join(names, ", "));
  throw InputError("read", failure);
}

}  // namespace facesat::app
