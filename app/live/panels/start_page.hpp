// The page that opens something: files, cameras, the demo, and what was opened recently.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/live/frames/capture.hpp"
#include "app/live/gui/file_choice.hpp"
#include "media/frame_source.hpp"

namespace facesat::app {

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
  static Chosen draw_recent(const std::vector<std::string>& recent);

  FileDialog dialog_;
  PathCompletion completion_;
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
