// The options of facesat train.
#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/common/command_line.hpp"
#include "app/train/samples_command.hpp"
#include "app/train/train_command.hpp"
#include "core/parse_number.hpp"

namespace facesat::app {

using Json = nlohmann::ordered_json;

namespace {

using train::Boosting;
using train::FeatureSet;

const std::map<std::string, FeatureSet> feature_sets{{"haar-basic", FeatureSet::haar_basic},
                                                     {"haar-core", FeatureSet::haar_core},
                                                     {"haar-all", FeatureSet::haar_all},
                                                     {"lbp", FeatureSet::lbp}};
const std::map<std::string, Boosting> boostings{{"gentle", Boosting::gentle},
                                                {"real", Boosting::real},
                                                {"discrete", Boosting::discrete},
                                                {"logit", Boosting::logit}};

// A rate above `least` (or from it on) and below 1, or up to it.
CLI::Option* add_rate(CLI::App& command, const std::string& name, double& rate, double least,
                      double most, const std::string& help) {
  const auto check = [least, most](const std::string& text) {
    const auto value = parse_number<double>(text);
    const bool is_right = value && *value >= least && *value <= most;
    return is_right ? std::string()
                    : fmt::format("expected a number from {:.4g} to {:.4g}, not \"{}\"", least,
                                  most, text);
  };
  return command.add_option(name, rate, help)->type_name("RATE")->check(CLI::Validator(check, ""));
}

void add_stage_options(CLI::App& command, train::TrainingOptions& options) {
  train::StageOptions& stage = options.stage;
  add_choice<FeatureSet>(command, "--features", options.features, feature_sets,
                         "The features to choose from: two to four rectangles, those in a row of "
                         "four and in a centre, too, those turned by 45 degrees, too; or local "
                         "binary patterns, which train and detect faster [haar-basic]");
  add_choice<Boosting>(command, "--boosting", stage.boosting, boostings,
                       "Gentle, Real or Discrete AdaBoost, or LogitBoost [gentle]");
  command.add_option("--stages", options.stages, "The most stages [20]")
      ->type_name("N")
      ->check(whole_number(1, 1000));
  add_rate(command, "--hit-rate", stage.min_hit_rate, 0.5, 1,
           "The part of the positives that must pass each stage [0.995]");
  add_rate(command, "--false-alarms", stage.max_false_alarm, 1e-6, 1,
           "The part of the negatives that may pass each stage [0.5]");
  add_rate(command, "--goal", options.goal, 0, 1,
           "End when no more than this part of all windows without objects passes [that of "
           "--false-alarms in all stages]");
  add_rate(command, "--trim", stage.trim_rate, 0, 1,
           "A tree learns from the heaviest samples, with this part of the weight [0.95]");
  command.add_option("--depth", stage.depth, "The depth of trees; 1: stumps [1]")
      ->type_name("N")
      ->check(whole_number(1, 12));
  command.add_option("--trees", stage.max_trees, "The most trees of a stage [100]")
      ->type_name("N")
      ->check(whole_number(1, 10'000));
  command
      .add_option("--bins", stage.bins,
                  "Thresholds between this many bins of each feature's values [exact thresholds]")
      ->type_name("N")
      ->check(whole_number(2, 256));
  command.add_flag(
      "--thresholds-by-held-out", stage.threshold_by_held_out,
      "Stages let --hit-rate of the positives held out pass, not of those learnt from");
}

void add_set_options(CLI::App& command, TrainCommand& options) {
  add_repeatable(
      command, "--negatives", options.negatives, "INPUT",
      "Pictures without the object: files, folders, archives, videos, @LIST of paths, or "
      "annotated pictures, of which the surroundings of objects are used; repeatable")
      ->required();
  command.add_flag("-r,--recursive", options.recursive, "Also pictures in subfolders");
  command
      .add_option("--positives-per-stage", options.training.positives,
                  "The most positives of a stage [all]")
      ->type_name("N")
      ->check(whole_number(1));
  command
      .add_option("--negatives-per-stage", options.training.negatives,
                  "The most negatives of a stage [as many as positives]")
      ->type_name("N")
      ->check(whole_number(10));
  add_rate(command, "--held-out", options.held_out, 0, 0.9,
           "The part of all samples that nothing is learnt from, to see over-training [0.1]");
  add_repeatable(command, "--validation", options.validation, "INPUT",
                 "Objects to hold out, instead of some of the others; repeatable");
  command
      .add_option(
          "--per-picture", options.mining.per_picture,
          "The most negatives of a picture and stage [as many as are needed, spread evenly]")
      ->type_name("N")
      ->check(whole_number(1, 1'000'000));
  command
      .add_option_function<double>(
          "--scale-factor", [&options](double factor) { options.mining.scale_factor = factor; },
          "Between the sizes at which pictures are searched for negatives [1.1]")
      ->type_name("F")
      ->check(CLI::Range(1.01, 4.0));
  command.add_flag_callback(
      "--no-mirrored-negatives", [&options] { options.mining.mirrored = false; },
      "Do not search the mirror images of pictures, too");
}

// ---- what a training depends on, so that another one does not go on with it

void add_copies(Json& options, const train::PositiveOptions& samples) {
  const train::CopyOptions& copies = samples.copies;
  options["mirror"] = copies.mirrored;
  if (copies.copies > 0)
    options.update({{"copies", copies.copies},
                    {"shift", copies.shift},
                    {"scale", copies.scale},
                    {"turn", copies.turn},
                    {"brightness", copies.brightness},
                    {"contrast", copies.contrast}});
  const train::DistortionOptions& distortion = samples.distortion;
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
  const auto word = [](const auto& words, auto value) {
    return std::ranges::find(words, value, [](const auto& entry) { return entry.second; })->first;
  };
  const train::TrainingOptions& training = command.training;
  const train::StageOptions& stage = training.stage;
  const train::PositiveOptions& samples = command.samples;
  Json options{{"positives", command.positives},
               {"validation", command.validation},
               {"negatives", command.negatives},
               {"from", command.from},
               {"recursive", command.recursive},
               {"label", samples.annotations.labels},
               {"pictures", Json::array({samples.annotations.pictures.string()})},
               {"luma", samples.reading == Reading::luma},
               {"count", samples.most},
               {"aspect", samples.aspect == train::Aspect::keep ? "keep" : "stretch"},
               {"window", fmt::format("{}x{}", samples.window.width, samples.window.height)},
               {"features", word(feature_sets, training.features)},
               {"boosting", word(boostings, stage.boosting)},
               {"hit-rate", stage.min_hit_rate},
               {"false-alarms", stage.max_false_alarm},
               {"trim", stage.trim_rate},
               {"depth", stage.depth},
               {"trees", stage.max_trees},
               {"bins", stage.bins},
               {"thresholds-by-held-out", stage.threshold_by_held_out},
               {"positives-per-stage", training.positives},
               {"negatives-per-stage", training.negatives},
               {"held-out", command.held_out},
               {"per-picture", command.mining.per_picture},
               {"scale-factor", command.mining.scale_factor},
               {"mirrored-negatives", command.mining.mirrored},
               {"seed", samples.seed}};
  add_copies(options, samples);
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
  add_stage_options(*train, command.training);
  add_sample_options(*train, command.samples);
  add_file(*train, "--from", command.from,
           "Go on from this cascade, or from its first stages: FILE or FILE:STAGES");
  train->add_flag("--restart", command.restart, "Forget what an earlier run has trained");
  train
      ->add_option("--memory", command.memory,
                   "For the features' values, in MiB; a GPU uses what it has [4096]")
      ->type_name("MIB")
      ->check(whole_number(0, 1 << 24));
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
      "The options of opencv_traincascade are understood, too: -data -vec -bg -numPos -numNeg "
      "-numStages -featureType\n-mode -w -h -bt -minHitRate -maxFalseAlarmRate -weightTrimRate "
      "-maxDepth -maxWeakCount -numThreads.\n"
      "The same inputs and options give the same file, byte for byte, on the CPU and on GPUs, with "
      "any number of\nthreads, also if the run was ended in between.\n"
      "Exit status: 0 trained, 1 trained but some inputs were refused, 2 wrong usage or nothing to "
      "learn from,\n3 the output cannot be written.");
  train->final_callback([&command] { check_sample_options(command.samples); });
  return train;
}

}  // namespace facesat::app
