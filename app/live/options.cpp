// The command line of `facesat live`.
#include "app/common/command_line.hpp"
#include "app/live/live.hpp"

namespace facesat::app {
namespace {

void add_outputs(CLI::App& live, LiveCommand& command) {
  add_file(live, "--screenshot", command.screenshot,
           "Write what was shown last, at the end, in place of an earlier one");
  add_file(live, "--record", command.record, "Write the frames with their boxes into a video");
  add_file(live, "--times", command.times,
           "Write the times of all frames as CSV, at the end, in place of earlier ones");
}

}  // namespace

CLI::App* add_live(CLI::App& program, LiveCommand& command) {
  CLI::App* live = program.add_subcommand("live", "The window: faces and times, live");
  live->add_option("SOURCE", command.sources,
                   "A camera's number or device, a stream's URL, videos, pictures and folders of "
                   "them, which are played as one list [the first camera]")
      ->type_name("");
  add_size(*live, "--camera-size", command.camera.size,
           "Ask the camera for pictures of this size [its default]")
      ->type_name("WxH");
  live->add_option("--camera-fps", command.camera.frames_per_second,
                   "Ask the camera for this frame rate [its default]")
      ->type_name("F")
      ->check(CLI::Range(1, 1000).description(""));
  add_repeatable(*live, "--cascade", command.settings.cascades, "NAME|FILE",
                 "As for 'facesat detect'; repeatable");
  for (const char* name : {"scale-factor", "min-neighbors"})
    add_field(*live, command.settings.detect, detection_field(name));
  add_fields(*live, command.settings.backend, backend_fields());
  live->add_option("--frames", command.frames, "End after that many frames")
      ->type_name("N")
      ->check(whole_number(1));
  add_outputs(*live, command);
  live->add_flag_callback(
      "--no-vsync", [&command] { command.vsync = false; }, "Draw as fast as possible");
  live->add_flag("--forget", command.ignores_saved_settings,
                 "Start with the defaults instead of the choices of the last time");
  live->footer(
      "\nExit status: 0 all went well; 1 with --frames: the source ended before, or some sources "
      "could not be read;\n2 wrong usage, or there was no frame to write; 3 an output could not be "
      "written, detection failed, or the\ndisplay was lost; ended by a signal: 128 and its number "
      "(Ctrl+C: 130). The first Ctrl+C, SIGTERM or SIGHUP\nfinishes the outputs; another one, more "
      "than a second later, ends at once.");
  // Options that were not given leave the saved settings as they are.
  live->final_callback([live, &command] {
    command.give = [live, given = command.settings](LiveSettings& to) {
      const auto is_given = [live](const char* name) { return live->count(name) > 0; };
      if (is_given("--cascade")) to.cascades = given.cascades;
      if (is_given("--scale-factor")) to.detect.scale_factor = given.detect.scale_factor;
      if (is_given("--min-neighbors")) to.detect.min_neighbors = given.detect.min_neighbors;
      if (is_given("--backend") || is_given("--device") || is_given("--sat"))
        to.backend = given.backend;
    };
  });
  return live;
}

}  // namespace facesat::app
