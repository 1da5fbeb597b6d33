#include "app/detect/options.hpp"

#include <map>

#include "cascades/cascade_store.hpp"

#include "app/errors.hpp"
#include "app/parse_size.hpp"

namespace facesat::app {
namespace {

template <class Choice>
void add_choice(CLI::App& detect, const char* name, Choice& value,
                const std::map<std::string, Choice>& names, const char* type, const char* help) {
  detect.add_option(name, value, help)
      ->transform(CLI::CheckedTransformer(names, CLI::ignore_case).description(""))
      ->type_name(type);
}

void add_detection(CLI::App& detect, DetectCommand& c) {
  detect
      .add_option("--cascade", c.cascades,
                  "What to look for: a name from 'facesat cascades', or an XML file; repeatable "
                  "[frontalface_default]")
      ->type_name("NAME|FILE")
      ->take_all()
      ->expected(1);
  detect
      .add_option("--scale-factor", c.detect.scale_factor,
                  "From one level of the pyramid to the next [1.1]")
      ->type_name("F");
  detect
      .add_option("--min-neighbors", c.detect.min_neighbors,
                  "Windows that must agree on a face, less one [3]")
      ->type_name("N");
  add_size(detect, "--min-size", c.detect.min_size, "Smallest face; 0: none");
  add_size(detect, "--max-size", c.detect.max_size, "Largest face; 0: none");
  add_choice<Scan>(detect, "--scan", c.detect.scan,
                   {{"opencv", Scan::opencv}, {"dense", Scan::dense}}, "opencv|dense",
                   "dense: every position of every level, no skip rule [opencv]");
  detect.add_flag("--equalize", c.detect.equalize, "Equalise the histogram first");
  detect.add_flag("--raw", c.raw, "Windows before grouping (--min-neighbors 0)")
      ->excludes("--min-neighbors");
}

void add_machine(CLI::App& detect, DetectCommand& c) {
  add_backend_options(detect, c.backend);
  detect.add_option("-j,--jobs", c.jobs, "Threads for decoding and detection [all cores]")
      ->type_name("N")
      ->check(CLI::Range(1, 1024).description(""));
}

void add_results(CLI::App& detect, DetectCommand& c) {
  detect.add_option("-o,--output", c.output, "Where results go; -: standard output [-]")
      ->type_name("FILE");
  add_choice<Format>(detect, "--format", c.format, {{"jsonl", Format::jsonl}, {"csv", Format::csv}},
                     "jsonl|csv", "One JSON object a picture, or one CSV line a face [jsonl]");
  detect.add_option("--annotate", c.annotate, "Write the pictures with boxes there")
      ->type_name("DIR");
  detect.add_option("--crops", c.crops, "Write one picture a face there")->type_name("DIR");
  detect.add_flag("--resume", c.resume, "Skip the inputs that the output file already has")
      ->needs("--output");
  detect.add_flag("-q,--quiet", c.quiet, "Say nothing but errors");
  add_choice<ProgressChoice>(detect, "--progress", c.progress,
                             {{"auto", ProgressChoice::automatic},
                              {"on", ProgressChoice::on},
                              {"off", ProgressChoice::off}},
                             "auto|on|off",
                             "Progress on standard error; auto: when it is a terminal [auto]");
}

}  // namespace

CLI::App* add_detect(CLI::App& program, DetectCommand& command) {
  CLI::App* detect = program.add_subcommand("detect", "Find faces in pictures, folders and films");
  detect
      ->add_option("INPUT", command.inputs,
                   "Files, folders, @LIST of paths, or - for paths on standard input")
      ->required()
      ->type_name("");
  detect->add_flag("-r,--recursive", command.recursive, "Descend into folders");
  add_detection(*detect, command);
  add_machine(*detect, command);
  add_results(*detect, command);
  detect->footer(
      "\nExamples:\n"
      "  facesat detect photo.jpg\n"
      "  facesat detect -r --format csv -o faces.csv --annotate boxes/ photos/\n"
      "  find /photos -name '*.jpg' | facesat detect -o faces.jsonl --resume -\n"
      "Exit status: 0 every input processed, 1 some input failed, 2 wrong usage and nothing "
      "processed.");
  detect->final_callback([detect, &command] {
    if (command.cascades.empty()) command.cascades.emplace_back(default_cascade_name);
    if (command.raw) command.detect.min_neighbors = 0;
    if (command.resume && command.output == "-")
      throw CLI::ValidationError("--resume needs an output file: -o FILE");
  });
  return detect;
}

}  // namespace facesat::app
