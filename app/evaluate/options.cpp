#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "app/common/command_line.hpp"
#include "app/evaluate/evaluate.hpp"

namespace facesat::app {
namespace {

using training::Criterion;

void add_truth(CLI::App& evaluate, EvaluateCommand& c) {
  evaluate
      .add_option("ANNOTATIONS", c.annotations,
                  "Where the objects are: OpenCV's info.dat, Pascal VOC (a file, or a folder of "
                  "them), COCO (JSON), YOLO (a folder), CSV with the columns image,x,y,w,h, or "
                  "facesat's own CSV and JSON Lines")
      ->required()
      ->type_name("");
  evaluate
      .add_option("CASCADE", c.cascades,
                  "What is evaluated: names from 'facesat cascades', or cascade files")
      ->required()
      ->type_name("");
  evaluate
      .add_option("--root", c.root,
                  "The names of pictures in the annotations are relative to it [the folder of the "
                  "annotations]")
      ->type_name("DIR");
  add_repeatable(evaluate, "--label", c.labels, "NAME",
                 "Only objects with this label count, the others are ignored: neither missed nor "
                 "false; repeatable [all]");
  add_repeatable(evaluate, "--pictures", c.pictures, "DIR",
                 "Evaluate all pictures below it, too: those without annotations have no objects; "
                 "repeatable");
}

void add_matching(CLI::App& evaluate, EvaluateCommand& c) {
  add_choice<Criterion>(evaluate, "--match", c.match.criterion,
                        {{"iou", Criterion::iou},
                         {"centre", Criterion::centre},
                         {"opencv", Criterion::opencv},
                         {"uiuc", Criterion::uiuc}},
                        "When a detection is right; see below [iou]");
  evaluate
      .add_option("--iou", c.match.iou,
                  fmt::format("Least intersection over union of --match iou [{}]", c.match.iou))
      ->type_name("T");
  add_choices<Sweep>(
      evaluate, "--curve", c.sweeps,
      {{"neighbors", Sweep::neighbors},
       {"score", Sweep::score},
       {"stages", Sweep::stages},
       {"windows", Sweep::windows}},
      "What is varied in the table that is printed; repeatable. Files have the curves "
      "by neighbors, score and windows, which come from one search, and by stages if "
      "it is named: a search for each number of stages. The window rate is the part of all windows "
      "that are falsely accepted [neighbors]");
}

void add_search(CLI::App& evaluate, EvaluateCommand& c) {
  for (const Field<DetectOptions>& field : detection_fields())
    if (field.name != "inside-of" && field.name != "only-with-inner")
      add_field(evaluate, c.detect, field);
  add_field(evaluate, c.search,
            *std::ranges::find(search_fields(), "luma", &Field<SearchOptions>::name));
  add_fields(evaluate, c.backend, backend_fields());
  evaluate.add_option("-j,--jobs", c.jobs, "Threads for decoding and detection [all cores]")
      ->type_name("N")
      ->check(whole_number(1, 1024));
  evaluate
      .add_option("--max-pixels", c.search.max_pixels,
                  fmt::format("Refuse larger pictures [{}]", c.search.max_pixels))
      ->type_name("N")
      ->check(whole_number(1));
}

void add_outputs(CLI::App& evaluate, EvaluateCommand& c) {
  add_repeatable(evaluate, "-o,--output", c.outputs, "FILE",
                 "Write the curves there, in place of earlier ones: FILE.csv, FILE.json (with the "
                 "misses and false alarms), or FILE.html (a page with charts and pictures); "
                 "repeatable");
  evaluate.add_flag("-q,--quiet", c.quiet, "No messages about single pictures and no progress");
  add_choice<ProgressChoice>(evaluate, "--progress", c.progress,
                             {{"auto", ProgressChoice::automatic},
                              {"on", ProgressChoice::on},
                              {"off", ProgressChoice::off}},
                             "Progress on standard error; auto: if that is a terminal [auto]");
}

void check_command(const CLI::App& evaluate, const EvaluateCommand& c) {
  if (!(c.match.iou > 0 && c.match.iou <= 1))
    throw CLI::ValidationError("--iou: expected more than 0 and at most 1");
  if (evaluate.count("--iou") > 0 && c.match.criterion != Criterion::iou)
    throw CLI::ValidationError("--iou is for --match iou");
}

}  // namespace

bool EvaluateCommand::has(Sweep sweep) const {
  return std::find(sweeps.begin(), sweeps.end(), sweep) != sweeps.end();
}

CLI::App* add_evaluate(CLI::App& program, EvaluateCommand& command) {
  CLI::App* evaluate = program.add_subcommand(
      "evaluate", "Compare what cascades find in annotated pictures with the annotations");
  add_truth(*evaluate, command);
  add_matching(*evaluate, command);
  add_search(*evaluate, command);
  add_outputs(*evaluate, command);
  evaluate->footer(
      "\nA detection is right, with --match\n"
      "  iou     if its intersection with an object is at least 0.4 (--iou) of their union;\n"
      "  centre  if its centre is at most 0.3 widths of the object from that of the object, and "
      "the ratio of\n"
      "          their sizes (square roots of areas) is from 1/1.5 to 1.5;\n"
      "  opencv  as opencv_performance counted: the same but for sizes, which are root mean "
      "squares "
      "of width\n"
      "          and height, and limits, which are not right themselves;\n"
      "  uiuc    as for the UIUC car images: the upper left corner and the width are in an "
      "ellipsoid "
      "around\n"
      "          the object's, a quarter of its width across and in size, a quarter of its height "
      "down.\n"
      "Each object counts for one detection, the closest pairs first; further ones are false. As "
      "opencv counts,\nany number of detections may be right about an object.\n"
      "Examples:\n"
      "  facesat evaluate cars/info.dat trained/cascade.xml\n"
      "  facesat evaluate -o faces.html faces.csv frontalface_default frontalface_alt2 "
      "lbp:frontalface\n"
      "  facesat evaluate --root images --pictures images --curve stages faces.csv my.xml\n"
      "Exit status: 0 every picture evaluated, 1 a picture or a line of the annotations could not "
      "be read and does "
      "not count, "
      "2 wrong\nusage and nothing evaluated, 3 a device or an output failed; ended by a signal: "
      "128 "
      "and its number.");
  command.search.max_seconds = 1e9;  // every picture is to count, however long it takes
  evaluate->final_callback([evaluate, &command] {
    check_command(*evaluate, command);
    if (command.sweeps.empty()) command.sweeps = {Sweep::neighbors};
    command.line = "facesat " + line_of(*evaluate);
  });
  return evaluate;
}

}  // namespace facesat::app
