// facesat live: a window that shows the faces in live pictures, and the times of detection.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/live/detection/live_settings.hpp"
#include "media/frame_source.hpp"

namespace CLI {
class App;
}

namespace facesat::app {

struct LiveCommand {
  std::vector<std::string> sources;  // empty: the first camera
  CameraMode camera;
  LiveSettings settings;
  // Overrides its argument, the saved settings, with those given on the command line.
  std::function<void(LiveSettings&)> give;
  bool ignores_saved_settings = false;  // start with the defaults
  int frames = 0;                       // end after showing that many frames; 0: no limit
  std::string screenshot;  // screenshot and times: files, written at the end; empty: none
  std::string times;
  std::string record;  // a video of all frames that were processed; empty: none
  bool vsync = true;
};

bool has_window();  // whether this build has a window

// Adds the subcommand; parsing fills `command`, which must outlive the parser.
CLI::App* add_live(CLI::App& program, LiveCommand& command);

// Returns the exit status. Throws UsageError if no window can be opened.
int run_live(const LiveCommand& command);

}  // namespace facesat::app
