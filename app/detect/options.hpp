// The options of `facesat detect`.
#pragma once

#include <string>
#include <vector>

#include "app/detect/search.hpp"
#include "core/crop.hpp"
#include "facesat.hpp"
#include "media/frame_source.hpp"
#include "results/blur.hpp"
#include "results/results.hpp"
#include "results/shard.hpp"

namespace CLI {
class App;
}

namespace facesat::app {

enum class ProgressChoice { automatic, on, off };

// The values of the options; options.cpp has the help text of each option.
struct DetectCommand {
  std::vector<std::string> inputs;
  Shard shard;  // the inputs that this run takes
  bool shard_is_automatic = false;
  std::vector<std::string> cascades;
  BackendOptions backend;
  DetectOptions detect;
  bool raw = false;  // windows before grouping
  SearchOptions search;
  FrameChoice frames;  // of videos
  std::string output = "-";
  const Format* format = &jsonl_format();
  bool csv_safe = false;
  bool csv_all = false;
  std::string annotate, crops, blur;  // folders; empty: off
  CropOptions crop;
  BlurStyle blur_style = BlurStyle::blur;
  bool show = false;  // in a window
  bool recursive = false, null_separated = false, quiet = false;
  bool resume = false, retry_failed = false;
  int jobs = 0;  // 0: all cores
  ProgressChoice progress = ProgressChoice::automatic;

  bool is_live() const;  // is the input a camera or stream?
};

// Adds the subcommand; parsing fills `command`, which must outlive the parser.
CLI::App* add_detect(CLI::App& program, DetectCommand& command);

}  // namespace facesat::app
