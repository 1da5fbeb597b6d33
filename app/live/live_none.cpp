// For builds without the libraries that the window needs.
#include <CLI/CLI.hpp>

#include "app/live/live.hpp"
#include "support/errors.hpp"

namespace facesat::app {

bool has_window() {
  return false;
}

CLI::App* add_live(CLI::App& program, LiveCommand& command) {
  CLI::App* live = program.add_subcommand("live", "The window (this build has none)");
  // Accepted, so that run_live() can say what is missing.
  live->add_option("SOURCE", command.sources, "")->type_name("");
  return live;
}

int run_live(const LiveCommand&) {
  throw UsageError(
      "this build has no window: it was made without GLFW, Dear ImGui, glad or OpenCV");
}

}  // namespace facesat::app
