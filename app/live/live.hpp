// facesat live: the window.
#pragma once

#include <functional>
#include <string>

#include "app/live/detection.hpp"

namespace CLI {
class App;
}

namespace facesat::app {

struct LiveCommand {
  std::string source;  // empty: the first camera
  CameraMode camera;
  LiveSettings settings;
  // Puts those settings that were given on the command line into others.
  std::function<void(LiveSettings&)> give;
  bool forgets = false;    // starts with the defaults, and leaves what is remembered alone
  int frames = 0;          // end after that many shown; 0: never
  std::string screenshot;  // files, written at the end; empty: none
  std::string times;
  std::string record;  // a video of all frames shown; empty: none
  bool vsync = true;
};

bool has_window();  // whether this build has one

// Adds the subcommand; parsing fills `command`, which must outlive the parser.
CLI::App* add_live(CLI::App& program, LiveCommand& command);

// Returns the exit status. Throws UsageError where there is no window to be had.
int run_live(const LiveCommand& command);

}  // namespace facesat::app
