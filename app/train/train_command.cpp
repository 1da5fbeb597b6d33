#include "app/train/train_command.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <sys/file.h>
#include <tbb/global_control.h>
#include <unistd.h>

#include "app/train/features_picture.hpp"
#include "app/train/settings_search.hpp"
#include "app/train/training_report.hpp"
#include "core/parse_number.hpp"
#include "datasets/negatives.hpp"
#include "datasets/training_folder.hpp"
#include "library/training.hpp"
#include "media/codec.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/interrupt.hpp"
#include "support/messages.hpp"
#include "support/text.hpp"

namespace facesat::app {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// ---- the folder of an earlier run

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

// Keeps other runs out of a folder while it exists. Throws UsageError if another one has it.
class FolderLock {
 public:
  explicit FolderLock(const fs::path& folder)
      : file_(::open(folder.c_str(), O_RDONLY | O_CLOEXEC)) {
    // Other failures are ignored, because some file systems have no locks.
    if (file_ >= 0 && ::flock(file_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      ::close(file_);
      throw UsageError(fmt::format("{}: another run of facesat trains there", folder.string()));
    }
  }
  ~FolderLock() {
    if (file_ >= 0) ::close(file_);
  }
  FolderLock(FolderLock&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  FolderLock& operator=(FolderLock&&) = delete;

 private:
  int file_;
};

[[noreturn]] void refuse_foreign(const fs::path& output) {
  throw UsageError(
      fmt::format("{}: this file exists, and no training of it can be gone on with; --from FILE "
                  "goes on from its stages, with another output",
                  output.string()));
}

// The folder of an earlier run, or a new one, in which the options are; for this run alone.
FolderLock open_folder(const TrainCommand& command, const fs::path& folder, const Json& options) {
  const fs::path file = folder / "options.json", output = command.output;
  make_folder(output.parent_path());
  require_writable(output);
  if (has_contents(output) && !fs::exists(folder)) refuse_foreign(output);
  make_folder(folder);
  FolderLock lock(folder);
  const bool has_trained = has_contents(folder / "trees.jsonl") ||
                           has_contents(folder / "search.jsonl") || has_contents(output);
  if (has_contents(file) && (command.restart || !has_trained)) {
    // In this order, what is left is one state or refused, if the program is killed in between.
    fs::remove(folder / "trees.jsonl");
    fs::remove(output);
    for (const char* name : {"search.jsonl", "stage.samples", "log.jsonl", "hardest.csv",
                             "hardest.png", "features.png"})
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
    return lock;
  }
  if (has_contents(output)) refuse_foreign(output);
  training::replace_file(file, options.dump(1) + '\n');
  return lock;
}

// ---- the run

// The cascade to go on from: that of an earlier run, or the one that the options name.
std::optional<Cascade> cascade_to_go_on_from(const TrainCommand& command) {
  if (has_contents(command.output)) return load_cascade(command.output);
  if (command.from.empty()) return std::nullopt;
  const std::size_t colon = command.from.rfind(':');
  const auto stages =
      colon == command.from.npos ? std::nullopt : parse_number<int>(command.from.substr(colon + 1));
  Cascade cascade = load_cascade(stages ? command.from.substr(0, colon) : command.from);
  if (stages && (*stages < 0 || *stages > std::ssize(cascade.stages)))
    throw UsageError(
        fmt::format("--from {}: the cascade has {} stages", command.from, cascade.stages.size()));
  if (stages) cascade.stages.resize(static_cast<std::size_t>(*stages));
  return cascade;
}

Cascade first_stages(const TrainCommand& command) {
  const std::optional<Cascade> from = cascade_to_go_on_from(command);
  try {
    return begun_with(from ? &*from : nullptr, command.training, command.samples.samples.window);
  } catch (const ArgumentError& error) {
    throw UsageError(fmt::format(
        "{}: {}", has_contents(command.output) ? command.output : "--from " + command.from,
        error.what()));
  }
}

training::NegativeSources negative_sources(const TrainCommand& command) {
  training::NegativeSources sources =
      training::sources_of(command.negatives, command.samples.annotations.pictures);
  sources.recursive = command.recursive;
  return sources;
}

std::uint64_t seed_of(const TrainCommand& command) {
  return static_cast<std::uint64_t>(command.samples.samples.seed);
}

struct Objects {
  training::Samples samples, held_out;
  bool was_refused = false;  // some of the inputs
};

Objects read_objects(const TrainCommand& command, TrainingReport& report) {
  const training::Positives found = training::read_positives(command.positives, command.samples);
  Objects objects;
  objects.was_refused = found.report.refused > 0;
  for (const std::string& sentence : found.report.sentences) report.message(sentence);
  if (2 * found.report.stretched > found.report.objects)
    report.message(fmt::format(
        "{} of {} have another shape than the window, to which they are stretched: another "
        "--window suits them better, or --aspect keep",
        found.report.stretched, plural(found.report.objects, "object")));
  if (command.validation.empty()) {
    std::tie(objects.samples, objects.held_out) =
        training::held_out(found, command.training.held_out, seed_of(command));
  } else {
    objects.samples = found.samples;
    objects.held_out = training::read_positives(command.validation, command.samples).samples;
    if (objects.held_out.count() == 0) throw UsageError("--validation: there are no objects in it");
  }
  require_enough(objects.samples, objects.held_out);
  report.message(fmt::format("{} from {}; {} held out", plural(objects.samples.count(), "positive"),
                             plural(found.report.pictures, "picture"), objects.held_out.count()));
  return objects;
}

// ---- devices

std::vector<std::string> names_of(const Backends& backends) {
  std::vector<std::string> names;
  for (const Backends::Device& device : backends.devices()) names.push_back(device.name);
  return names;
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

// Returns whether some inputs were refused.
bool train_cascade(const TrainCommand& command, Objects objects,
                   std::shared_ptr<training::NegativePictures> negatives, const Backends& backends,
                   const fs::path& folder, TrainingReport& report) {
  const fs::path output = command.output;
  Cascade cascade = first_stages(command);
  const training::FeaturePool pool =
      training::make_pool(command.training.features, command.samples.samples.window);
  training::TrainingFolder store(folder, output, comment_of(options_of(command), objects));
  training::TrainingSets sets{.positives = std::move(objects.samples),
                              .held_out_positives = std::move(objects.held_out),
                              .negatives = open_mine(std::move(negatives), command.training,
                                                     command.samples.samples.seed, backends)};
  const training::TrainingResult result =
      training::train(pool, std::move(cascade), sets,
                      training_options(command.training, command.samples.samples.seed, backends),
                      store, report, interrupted);
  const std::vector<std::string> warnings = sets.negatives->warnings();
  for (const std::string& warning : warnings) report.message(warning);
  if (result.cascade.stages.empty()) throw UsageError(result.sentence);
  write_picture(folder / "features.png", features_picture(result.cascade, sets.positives).view());
  report.message(fmt::format("{}: {}", output.string(), result.sentence));
  return objects.was_refused || !warnings.empty();
}

}  // namespace

int run_train(const TrainCommand& command) {
  const fs::path output = command.output, folder = command.output + ".training";
  std::optional<tbb::global_control> limit;
  if (command.jobs > 0)
    limit.emplace(tbb::global_control::max_allowed_parallelism,
                  static_cast<std::size_t>(command.jobs));
  catch_interrupts();
  const Backends backends(command.backend, {});
  const FolderLock lock = open_folder(command, folder, options_of(command));
  const auto negatives = std::make_shared<training::Negatives>(negative_sources(command));
  TrainingReport report(folder, *negatives, !command.quiet);
  if (backends.on_gpu())
    report.message(fmt::format("training on {}", fmt::join(names_of(backends), " and ")));
  for (const std::string& warning : negatives->warnings()) report.message(warning);
  try {
    Objects objects = read_objects(command, report);
    TrainCommand chosen = command;
    if (!command.searched.empty())
      chosen = with_best_settings(command, negatives, backends, folder / "search.jsonl", report);
    if (chosen.samples.samples != command.samples.samples) objects = read_objects(chosen, report);
    return train_cascade(chosen, std::move(objects), negatives, backends, folder, report) ? 1 : 0;
  } catch (const Stopped&) {
    report.message(fmt::format("interrupted; the same command goes on{}",
                               has_contents(output)
                                   ? fmt::format(", and {} has the stages so far", output.string())
                                   : ""));
    end_as_interrupted();
  }
}

}  // namespace facesat::app
