// The page that opens something: files, cameras, the demo, and what was opened recently.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/live/gui/file_dialog.hpp"
#include "app/live/gui/path_completion.hpp"
#include "library/media/camera.hpp"

namespace facesat::app {

class StartPage {
 public:
  // Draws into the current window. Returns the names to open, if the user chose some; `recent`: the
  // last name first.
  std::optional<std::vector<std::string>> draw(const std::vector<std::string>& recent);

  // The cameras are listed anew.
  void refresh() { is_fresh_ = false; }

 private:
  using Chosen = std::optional<std::vector<std::string>>;

  Chosen draw_files();
  Chosen draw_path();
  Chosen draw_cameras() const;
  static Chosen draw_recent(const std::vector<std::string>& recent);

  FileDialog dialog_;
  PathCompletion completion_;
  std::string typed_;
  std::vector<CameraInfo> cameras_;
  bool is_fresh_ = false;
};

// Puts a name in front of the list of recent ones, as an absolute path if it is one; at most eight
// remain.
void add_recent(std::vector<std::string>& recent, const std::string& name);

}  // namespace facesat::app
