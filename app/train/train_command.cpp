#include "app/train/train_command.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <tbb/global_control.h>

#include "app/common/command_line.hpp"
#include "app/train/features_picture.hpp"
#include "app/train/samples_command.hpp"
#include "app/train/training_report.hpp"
#include "core/parse_number.hpp"
#include "media/codec.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/interrupt.hpp"
#include "support/messages.hpp"
#include "support/text.hpp"
#include "train/cascade_prefix.hpp"
#include "train/training_folder.hpp"

namespace facesat::app {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using train::Boosting;
using train::FeatureSet;

// ---- options

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

// Stages may be added to a cascade, but not trained in another way than those before.
void require_same(const Json& earlier, const Json& now, const fs::path& output) {
  const auto text_of = [](const Json& options, const std::string& name) {
    return options.contains(name) ? options[name].dump() : "not given";
  };
  Json names = earlier;
  names.update(now);
  std::vector<std::string> changes;
  for (const auto& [name, value] : names.items())
    if (text_of(earlier, name) != text_of(now, name))
      changes.push_back(
          fmt::format("--{} was {}, is {}", name, text_of(earlier, name), text_of(now, name)));
  if (changes.empty()) return;
  throw UsageError(
      fmt::format("{}: this training was begun in another way: {}. --restart begins "
                  "anew, --from goes on from a cascade",
                  output.string(), fmt::join(changes, "; ")));
}

// The folder of an earlier run, or a new one, in which the options are.
void open_folder(const TrainCommand& command, const fs::path& folder, const Json& options) {
  const fs::path file = folder / "options.json", output = command.output;
  make_folder(output.parent_path());
  require_writable(output);
  const bool has_trained = has_contents(folder / "trees.jsonl") || has_contents(output);
  if (has_contents(file) && (command.restart || !has_trained)) {
    // In this order, what is left is one state or refused, if the program is killed in between.
    fs::remove(folder / "trees.jsonl");
    fs::remove(output);
    for (const char* name :
         {"stage.samples", "log.jsonl", "hardest.csv", "hardest.png", "features.png"})
      fs::remove(folder / name);
    fs::remove(file);
  }
  if (has_contents(file)) {
    const std::vector<unsigned char> bytes = read_file(file);
    const Json earlier = Json::parse(as_text(bytes), nullptr, false);
    if (earlier.is_discarded() || !earlier.is_object())
      throw UsageError(fmt::format("{}: the file is damaged; --restart begins the training anew",
                                   file.string()));
    require_same(earlier, options, command.output);
    return;
  }
  if (has_contents(command.output))
    throw UsageError(
        fmt::format("{}: this file exists, and no training of it can be gone on with; "
                    "--from FILE goes on from its stages, with another output",
                    command.output));
  make_folder(folder);
  train::replace_file(file, options.dump(1) + '\n');
}

// ---- the run

// The first stages of a cascade of the user's, in terms of what is trained.
Cascade begun_with(const TrainCommand& command) {
  Cascade none;
  none.kind = kind_of(command.training.features);
  none.window = command.samples.window;
  if (has_contents(command.output)) return load_cascade(command.output);
  if (command.from.empty()) return none;
  const std::size_t colon = command.from.rfind(':');
  const auto stages =
      colon == command.from.npos ? std::nullopt : parse_number<int>(command.from.substr(colon + 1));
  Cascade cascade = load_cascade(stages ? command.from.substr(0, colon) : command.from);
  if (stages && (*stages < 0 || *stages > std::ssize(cascade.stages)))
    throw UsageError(
        fmt::format("--from {}: the cascade has {} stages", command.from, cascade.stages.size()));
  if (stages) cascade.stages.resize(static_cast<std::size_t>(*stages));
  if (cascade.kind != none.kind || cascade.window != none.window)
    throw UsageError(fmt::format(
        "--from {}: a cascade of {} features in windows of {}x{}; --features "
        "and --window must agree",
        command.from, name_of(cascade.kind), cascade.window.width, cascade.window.height));
  return train::without_unused(cascade);
}

train::NegativeSources negative_sources(const TrainCommand& command) {
  train::NegativeSources sources;
  sources.recursive = command.recursive;
  for (const std::string& input : command.negatives) {
    if (input.starts_with('@') || !train::has_annotations(input)) {
      sources.inputs.push_back(input);
      continue;
    }
    train::Annotations annotated = train::read_annotations(
        input, {.labels = {}, .pictures = command.samples.annotations.pictures});
    std::ranges::move(annotated.pictures, std::back_inserter(sources.annotated.pictures));
  }
  return sources;
}

struct Objects {
  train::Samples samples, held_out;
  bool was_refused = false;  // some of the inputs
};

Objects read_objects(const TrainCommand& command, TrainingReport& report) {
  const train::Positives found = train::read_positives(command.positives, command.samples);
  Objects objects;
  objects.was_refused = found.report.refused > 0;
  for (const std::string& sentence : found.report.sentences) report.message(sentence);
  if (command.validation.empty()) {
    std::tie(objects.samples, objects.held_out) =
        train::held_out(found, command.held_out, command.samples.seed);
  } else {
    objects.samples = found.samples;
    objects.held_out = train::read_positives(command.validation, command.samples).samples;
  }
  constexpr std::size_t least = 10;
  if (objects.samples.count() < least)
    throw UsageError(fmt::format("{} to learn from: too few; at least {}, better a thousand",
                                 plural(objects.samples.count(), "positive"), least));
  report.message(fmt::format("{} from {}; {} held out", plural(objects.samples.count(), "positive"),
                             plural(found.report.pictures, "picture"), objects.held_out.count()));
  return objects;
}

// What the cascade's file says of itself. The options have the last word, so that nothing in it
// depends on machine or time.
std::string comment_of(const Json& options, const Objects& objects) {
  std::string text =
      fmt::format("Trained by facesat {} from {} positives ({} held out).", FACESAT_VERSION,
                  objects.samples.count(), objects.held_out.count());
  for (const auto& [name, value] : options.items()) {
    if (value.is_array() || (name == "from" && value == "")) continue;
    const std::string word =
        name == "from" ? fs::path(value.get<std::string>()).filename().string() : value.dump();
    text += fmt::format("\n{}: {}", name, word);
  }
  return text;
}

}  // namespace

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
  train->add_option("--memory", command.memory, "For the features' values, in MiB [4096]")
      ->type_name("MIB")
      ->check(whole_number(0, 1 << 24));
  train->add_option("-j,--jobs", command.jobs, "Threads [all cores]; they do not change the result")
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
      "The same inputs and options give the same file, byte for byte, on any number of threads, "
      "also if the run\nwas ended in between.\n"
      "Exit status: 0 trained, 1 trained but some inputs were refused, 2 wrong usage or nothing to "
      "learn from,\n3 the output cannot be written.");
  train->final_callback([&command] { check_sample_options(command.samples); });
  return train;
}

int run_train(const TrainCommand& command) {
  const fs::path output = command.output, folder = command.output + ".training";
  std::optional<tbb::global_control> limit;
  if (command.jobs > 0)
    limit.emplace(tbb::global_control::max_allowed_parallelism,
                  static_cast<std::size_t>(command.jobs));
  catch_interrupts();
  const Json options = options_of(command);
  open_folder(command, folder, options);
  Cascade cascade = begun_with(command);
  const train::FeaturePool pool =
      train::make_pool(command.training.features, command.samples.window);
  const auto negatives = std::make_shared<train::Negatives>(negative_sources(command));
  TrainingReport report(folder, *negatives, !command.quiet);
  for (const std::string& warning : negatives->warnings()) report.message(warning);
  Objects objects = read_objects(command, report);
  const std::string comment = comment_of(options, objects);
  train::MiningOptions mining = command.mining;
  mining.seed = command.samples.seed;
  train::TrainingOptions training = command.training;
  training.held_out = command.held_out;
  training.stage.memory = static_cast<std::size_t>(command.memory) << 20;
  train::TrainingSets sets{.positives = std::move(objects.samples),
                           .held_out_positives = std::move(objects.held_out),
                           .negatives = train::open_mine(negatives, mining)};
  try {
    const train::TrainingResult result = train::train(pool, std::move(cascade), sets, training,
                                                      output, folder, comment, report, interrupted);
    for (const std::string& warning : sets.negatives->warnings()) report.message(warning);
    if (result.cascade.stages.empty()) throw UsageError(result.sentence);
    write_picture(folder / "features.png", features_picture(result.cascade, sets.positives).view());
    report.message(fmt::format("{}: {}", output.string(), result.sentence));
  } catch (const Stopped&) {
    report.message(fmt::format("interrupted; the same command goes on{}",
                               has_contents(output)
                                   ? fmt::format(", and {} has the stages so far", output.string())
                                   : ""));
    end_as_interrupted();
  }
  return objects.was_refused ? 1 : 0;
}

}  // namespace facesat::app
