#include "app/detect/options.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <limits>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/common/command_line.hpp"
#include "app/detect/shard_choice.hpp"
#include "cascades/cascade_store.hpp"
#include "media/source_name.hpp"
#include "results/format.hpp"
#include "support/errors.hpp"

namespace facesat::app {
namespace {

void add_detection(CLI::App& detect, DetectCommand& c) {
  add_repeatable(detect, "--cascade", c.cascades, "NAME|FILE",
                 "What to look for: a name from 'facesat cascades', or a cascade file; repeatable "
                 "[frontalface_default]");
  add_fields(detect, c.detect, detection_fields());
  add_fields(detect, c.search, search_fields());
  detect.add_flag("--raw", c.raw, "Windows before grouping (--min-neighbors 0)")
      ->excludes("--min-neighbors");
  const auto keep = [&c](Kept kept) { return [&c, kept](std::int64_t) { c.search.kept = kept; }; };
  CLI::Option* const best = detect.add_flag_function(
      "--best", keep(Kept::best),
      "Keep only the face with the highest score of each picture or frame");
  detect
      .add_flag_function("--biggest", keep(Kept::biggest),
                         "Keep only the face with the largest area of each picture or frame")
      ->excludes(best);
}

void add_frames(CLI::App& detect, DetectCommand& c) {
  add_fields(detect, c.frames, frame_fields());
  detect.get_option("--every")->check(whole_number(1, std::numeric_limits<int>::max()));
  detect.get_option("--fps")->excludes("--every");
}

void add_machine(CLI::App& detect, DetectCommand& c) {
  add_fields(detect, c.backend, backend_fields());
  detect
      .add_option("-j,--jobs", c.jobs,
                  "Threads for decoding and detection [all cores; with a GPU, 8 or more]")
      ->type_name("N")
      ->check(whole_number(1, 1024));
  detect
      .add_option("--max-pixels", c.search.max_pixels,
                  fmt::format("Refuse larger pictures and frames [{}]", c.search.max_pixels))
      ->type_name("N")
      ->check(whole_number(1));
  detect
      .add_option(
          "--max-seconds", c.search.max_seconds,
          fmt::format("Give up on a picture or frame after that time [{:g}]", c.search.max_seconds))
      ->type_name("S");
}

void add_results(CLI::App& detect, DetectCommand& c) {
  add_file(detect, "-o,--output", c.output,
           "Where results go; -: standard output; {shard} in the name: see --shard [-]");
  std::map<std::string, const Format*> words;
  std::vector<std::string_view> descriptions;
  for (const Format* format : formats()) {
    words.emplace(format->name, format);
    descriptions.push_back(format->description);
  }
  std::string help = fmt::format("{} [jsonl]", fmt::join(descriptions, ", or "));
  help.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(help.front())));
  add_choice(detect, "--format", c.format, words, help);
  detect.add_flag("--csv-safe", c.csv_safe,
                  "Put a ' before names in CSV that a spreadsheet would run as formulas");
  detect.add_flag("--csv-all", c.csv_all,
                  "In CSV, pictures without faces have a row, too, and a column has the names "
                  "of the crops");
  detect.add_option("--annotate", c.annotate, "Write the pictures with boxes there")
      ->type_name("DIR");
  detect.add_option("--crops", c.crops, "Write one picture per face there")->type_name("DIR");
  add_fields(detect, c.crop, crop_fields());
  for (const char* name : {"--crop-margin", "--crop-size"})
    detect.get_option(name)->needs("--crops");
  detect
      .add_option("--blur", c.blur,
                  "Write all pictures there with their faces made unrecognisable, and videos with "
                  "their sound (if ffmpeg is installed)")
      ->type_name("DIR");
  add_choice<BlurStyle>(detect, "--blur-style", c.blur_style,
                        {{"blur", BlurStyle::blur}, {"pixelate", BlurStyle::pixelate}},
                        "What --blur makes of faces [blur]")
      ->needs("--blur");
  detect.add_flag("--show", c.show,
                  "Show each picture or frame with its boxes in a window, and wait for a key");
  detect
      .add_flag("--resume", c.resume,
                "Skip inputs whose results the output file has already, by its journal "
                "FILE.resume, which stays there")
      ->needs("--output");
  detect
      .add_flag("--retry-failed", c.retry_failed,
                "With --resume: try the inputs again that failed; their records come last")
      ->needs("--resume");
  detect.add_flag("-q,--quiet", c.quiet, "No summary, and no message that is in the results too");
  add_choice<ProgressChoice>(
      detect, "--progress", c.progress,
      {{"auto", ProgressChoice::automatic},
       {"on", ProgressChoice::on},
       {"off", ProgressChoice::off}},
      "Progress on standard error; auto: without --show, if that is a terminal, and results go "
      "elsewhere [auto]");
}

void add_shard(CLI::App& detect, DetectCommand& c) {
  const auto parse = [&c](const std::string& text) {
    c.shard = parse_shard(text, [](const char* name) { return std::getenv(name); });
    c.shard_is_automatic = text == "auto";
  };
  detect
      .add_option_function<std::string>(
          "--shard", parse,
          "Only part I (from 0) of the inputs, divided by their names into N parts; auto: the rank "
          "and size that Slurm, Open MPI or PMI give. {shard} in -o becomes I-of-N [0/1]")
      ->type_name("I/N|auto");
}

void check_crops(const CLI::App& detect, const CropOptions& crop) {
  constexpr double most = 10;
  constexpr int longest = 4096;
  if (!(crop.margin >= 0 && crop.margin <= most))
    throw CLI::ValidationError(
        fmt::format("--crop-margin: expected a fraction from 0 to {}, as 0.4", most));
  const auto [shorter, longer] = std::minmax({crop.size.width, crop.size.height});
  if (detect.count("--crop-size") > 0 && (shorter < 1 || longer > longest))
    throw CLI::ValidationError(
        fmt::format("--crop-size: expected sides from 1 to {} pixels, not {}x{}", longest,
                    crop.size.width, crop.size.height));
}

// Ranks are started with one and the same command line.
void check_automatic_shard(const DetectCommand& c, const std::string& output) {
  if (!c.shard_is_automatic || c.shard.is_all()) return;
  if (c.output != "-" && c.output == output)
    throw CLI::ValidationError(fmt::format(
        "-o {}: the {} ranks of --shard auto would write into one file; {{shard}} in its name is "
        "different for each, as in -o faces-{{shard}}.jsonl",
        output, c.shard.count));
  if (std::find(c.inputs.begin(), c.inputs.end(), "-") != c.inputs.end())
    throw CLI::ValidationError(
        "--shard auto: standard input may reach only one of the ranks: write the paths into a "
        "file, and give @FILE");
}

// A camera or stream ends when the user ends the run, and shows something else the next time.
void check_live(const DetectCommand& c) {
  const auto live = std::find_if(c.inputs.begin(), c.inputs.end(), is_live_name);
  if (live == c.inputs.end()) return;
  const auto refuse = [&](const char* reason) {
    throw CLI::ValidationError(fmt::format("{}: {}", without_credentials(*live), reason));
  };
  if (c.inputs.size() > 1)
    refuse("a camera or stream has no end, so it must be the only input: start one run for each");
  if (c.resume) refuse("--resume is for files: a camera or stream cannot be read again");
  if (!c.shard.is_all()) refuse("--shard is for files: a camera or stream cannot be divided");
  if (!c.blur.empty()) refuse("--blur is for files: a camera or stream is not recorded");
}

// What the parser does not check itself. Throws CLI::ValidationError.
void check_command(const CLI::App& detect, const DetectCommand& c) {
  if (c.resume && c.output == "-")
    throw CLI::ValidationError("--resume needs an output file: -o FILE");
  if (!(c.search.max_seconds > 0 && c.search.max_seconds <= 1e9))
    throw CLI::ValidationError("--max-seconds: expected more than 0 and at most 1e9 seconds");
  if (detect.count("--fps") > 0 && !(c.frames.per_second > 0 && c.frames.per_second <= 1e6))
    throw CLI::ValidationError("--fps: expected more than 0 and at most 1e6 frames per second");
  if (!c.blur.empty() && detect.count("--every") + detect.count("--fps") > 0)
    throw CLI::ValidationError("--blur writes whole videos: leave out --every and --fps");
  check_live(c);
  check_crops(detect, c.crop);
  for (const auto& [is_set, option] :
       {std::pair{c.csv_safe, "--csv-safe"}, {c.csv_all, "--csv-all"}})
    if (is_set && c.format != &csv_format())
      throw CLI::ValidationError(fmt::format("{} is for --format csv", option));
}

}  // namespace

bool DetectCommand::is_live() const {
  return inputs.size() == 1 && is_live_name(inputs.front());
}

CLI::App* add_detect(CLI::App& program, DetectCommand& command) {
  CLI::App* detect = program.add_subcommand(
      "detect", "Find faces in pictures, folders, videos, cameras and streams");
  detect
      ->add_option(
          "INPUT", command.inputs,
          "Files, folders, .tar archives, @LIST of paths, - for paths or a picture on standard "
          "input; or one camera (camera:0, /dev/video0) or stream (rtsp://..., http://...), until "
          "Ctrl+C")
      ->required()
      ->type_name("");
  detect->add_flag("-r,--recursive", command.recursive, "Descend into folders");
  detect->add_flag("-0,--null", command.null_separated,
                   "Paths in lists end with a NUL byte, as 'find -print0' writes them");
  add_shard(*detect, command);
  add_frames(*detect, command);
  add_detection(*detect, command);
  add_machine(*detect, command);
  add_results(*detect, command);
  detect->footer(
      "\nExamples:\n"
      "  facesat detect photo.jpg\n"
      "  facesat detect -r --format csv -o faces.csv --annotate boxes/ photos/\n"
      "  find /photos -name '*.jpg' | facesat detect -o faces.jsonl --resume -\n"
      "  curl -s https://example.org/photo.jpg | facesat detect -\n"
      "  facesat detect --fps 1 -o faces.jsonl rtsp://camera.local/stream\n"
      "  mpirun facesat detect --shard auto -o 'faces-{shard}.jsonl' photos/\n"
      "The window of --show: space, n, Right or Enter goes on; q, Esc or closing it ends the run. "
      "The results are\ncomplete up to that picture, the exit status is theirs, and with -o FILE "
      "--resume goes on from there.\n"
      "Exit status: 0 every input processed, 1 some input failed, 2 wrong usage and nothing "
      "processed,\n3 a device or the output failed; ended by a signal: 128 and its number (Ctrl+C: "
      "130).\nThe first Ctrl+C, SIGTERM or SIGHUP ends the run with its results complete so far; "
      "another "
      "one,\nmore than a second later, at once. This is how a run on a camera or stream ends, with "
      "status 0.");
  detect->final_callback([detect, &command] {
    if (command.cascades.empty()) command.cascades.emplace_back(default_cascade_name);
    if (command.raw) command.detect.min_neighbors = 0;
    for (const char* name : {"/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"})
      if (command.output == name) command.output = "-";  // as a file it would be truncated
    const std::string given =
        std::exchange(command.output, name_of_shard(command.output, command.shard));
    check_automatic_shard(command, given);
    check_command(*detect, command);
  });
  return detect;
}

}  // namespace facesat::app
