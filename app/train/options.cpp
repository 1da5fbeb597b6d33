// The options of facesat train.
#include <memory>
#include <type_traits>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "app/common/command_line.hpp"
#include "app/train/samples_command.hpp"
#include "app/train/search_journal.hpp"
#include "app/train/train_command.hpp"
#include "library/training.hpp"

namespace facesat::app {

using Json = nlohmann::ordered_json;

namespace {

void add_set_options(CLI::App& command, TrainCommand& options) {
  add_repeatable(
      command, "--negatives", options.negatives, "INPUT",
      "Pictures without the object: files, folders, archives, videos, @LIST of paths, or "
      "annotated pictures, of which the surroundings of objects are used; repeatable")
      ->required();
  command.add_flag("-r,--recursive", options.recursive, "Also pictures in subfolders");
  add_repeatable(command, "--validation", options.validation, "INPUT",
                 "Objects to hold out, instead of some of the others; repeatable");
}

void add_training_options(CLI::App& command, TrainOptions& options) {
  const Heading heading(command, "Stages");
  for (const Field<TrainOptions>& field : training_fields())
    if (field.name == "mirrored-negatives")
      command.add_flag_callback(
          "--no-mirrored-negatives", [&options] { options.mirrored_negatives = false; },
          "Do not search the mirror images of pictures for negatives, too");
    else
      add_ranged_field(command, options, field, training_ranges());
}

// Options that are given are not searched.
void set_searched(const CLI::App& train, TrainCommand& command) {
  if (command.training.thresholds_by_held_out)
    throw CLI::ValidationError("--search cannot be used with --thresholds-by-held-out");
  for (const std::string_view option : searchable_options())
    if (train.count(fmt::format("--{}", option)) == 0) command.searched.emplace_back(option);
  if (command.searched.empty())
    throw CLI::ValidationError("--search: all of the options that it could vary are given");
}

void add_search(CLI::App& train, TrainCommand& command, bool& is_searched) {
  const Heading heading(train, "Search");
  train
      .add_flag("--search", is_searched,
                fmt::format("First find the best values of those of --{} that are not given, by "
                            "cross validation; takes as long as 20 to 30 trainings",
                            fmt::join(searchable_options(), ", --")))
      ->excludes("--from");
  train
      .add_option("--folds", command.folds,
                  "Parts into which objects and pictures are divided; cascades are trained without "
                  "one part and tried on it [3]")
      ->type_name("N")
      ->check(whole_number(2, 100))
      ->needs("--search");
}

// ---- what a training depends on, so that another one does not go on with it

template <class Options>
void add_values(Json& json, const Options& options, const std::vector<Field<Options>>& fields) {
  for (const Field<Options>& field : fields)
    visit_value(field, options, [&](const auto& value) {
      if constexpr (std::is_same_v<std::decay_t<decltype(value)>, Size>)
        json[std::string(field.name)] = fmt::format("{}x{}", value.width, value.height);
      else
        json[std::string(field.name)] = value;
    });
}

void add_distortion(Json& options, const training::PositiveOptions& samples) {
  const training::DistortionOptions& distortion = samples.distortion;
  if (distortion.copies == 0) return;
  options.update({{"distort", distortion.copies},
                  {"background", samples.backgrounds},
                  {"tolerance", distortion.tolerance},
                  {"invert", distortion.inverted},
                  {"invert-at-random", distortion.inverted_at_random},
                  {"intensity", distortion.intensity},
                  {"max-x-angle", distortion.max_x_angle},
                  {"max-y-angle", distortion.max_y_angle},
                  {"max-z-angle", distortion.max_z_angle}});
  if (distortion.transparent) options["transparent"] = *distortion.transparent;
}

}  // namespace

Json options_of(const TrainCommand& command) {
  const training::PositiveOptions& positives = command.samples;
  Json options{{"positives", command.positives},
               {"validation", command.validation},
               {"negatives", command.negatives},
               {"from", command.from},
               {"recursive", command.recursive},
               {"label", positives.annotations.labels},
               {"pictures", Json::array({positives.annotations.pictures.string()})},
               {"luma", positives.reading == Reading::luma},
               {"count", positives.most}};
  add_values(options, command.training, training_fields());
  for (const char* name : {"stages", "goal", "memory"}) options.erase(name);  // these may change
  add_values(options, positives.samples, sample_fields());
  if (positives.samples.copies == 0)
    for (const char* name : {"copies", "shift", "scale", "turn", "brightness", "contrast"})
      options.erase(name);
  add_distortion(options, positives);
  if (!command.searched.empty()) {
    options["search"] = command.searched;
    options["folds"] = command.folds;
  }
  return options;
}

CLI::App* add_train(CLI::App& program, TrainCommand& command) {
  CLI::App* train = program.add_subcommand(
      "train", "Train a cascade for an object of your own, from pictures of it and others without");
  train
      ->add_option("POSITIVES", command.positives,
                   "What to find: annotated pictures, .vec files, or pictures that are objects as "
                   "a whole (as for 'facesat samples')")
      ->required()
      ->type_name("");
  add_file(
      *train, "-o,--output", command.output,
      "The cascade, FILE.xml. The folder FILE.xml.training has the log, the hardest negatives, "
      "the first stage's features, and what is needed to go on when the training is ended: by the "
      "same command again")
      ->required();
  add_set_options(*train, command);
  add_training_options(*train, command.training);
  add_sample_options(*train, command.samples);
  add_file(*train, "--from", command.from,
           "Go on from this cascade, or from its first stages: FILE or FILE:STAGES");
  const auto is_searched = std::make_shared<bool>(false);
  add_search(*train, command, *is_searched);
  train->add_flag("--restart", command.restart, "Forget what an earlier run has trained");
  add_fields(*train, command.backend, backend_fields());
  train->add_option("-j,--jobs", command.jobs, "Threads [all cores]")
      ->type_name("N")
      ->check(whole_number(1, 1024));
  train->add_flag("-q,--quiet", command.quiet, "Only errors");
  train->footer(
      "\nExamples:\n"
      "  facesat train cars.info.dat --negatives streets/ --window 50x20 --features lbp -o "
      "cars.xml\n"
      "  facesat train crops/ --mirror --negatives photos/ -r --stages 16 -o mine.xml\n"
      "  facesat train faces.vec --negatives photos.tar --from other.xml:10 -o longer.xml\n"
      "  facesat train crops/ --mirror --negatives photos/ -r --features lbp --search -o best.xml\n"
      "The options of opencv_traincascade are understood, too: -data -vec -bg -numPos -numNeg "
      "-numStages -featureType\n-mode -w -h -bt -minHitRate -maxFalseAlarmRate -weightTrimRate "
      "-maxDepth -maxWeakCount -numThreads.\n"
      "The same inputs and options give the same file, byte for byte, on the CPU and on GPUs, with "
      "any number of\nthreads, also if the run was ended in between.\n"
      "Exit status: 0 trained, 1 trained but some inputs were refused, 2 wrong usage, nothing to "
      "learn "
      "from or an\noutput that cannot be opened, 3 an output or a device failed; ended by a "
      "signal: "
      "128 and its number.");
  train->final_callback([&command, train, is_searched] {
    check_sample_options(command.samples);
    if (*is_searched) set_searched(*train, command);
    if (command.training.thresholds_by_held_out && command.training.held_out == 0 &&
        command.validation.empty())
      throw CLI::ValidationError("--thresholds-by-held-out needs objects that are held out");
  });
  return train;
}

}  // namespace facesat::app
