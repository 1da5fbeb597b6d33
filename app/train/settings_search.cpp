#include "app/train/settings_search.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/train/search_journal.hpp"
#include "datasets/vec_file.hpp"
#include "library/training.hpp"
#include "support/errors.hpp"
#include "support/interrupt.hpp"
#include "support/text.hpp"
#include "training/cross_validation.hpp"
#include "training/trainer.hpp"

namespace facesat::app {
namespace {

using training::Curve;

// The settings with other values of this option; one of them may be the same.
std::vector<Settings> with_other_values(const Settings& settings, std::string_view option) {
  std::vector<Settings> others;
  const auto add = [&](auto member, const auto& values) {
    for (const auto& value : values) {
      others.push_back(settings);
      others.back().*member = value;
    }
  };
  if (option == "features")
    add(&Settings::features, std::array{FeatureSet::lbp, FeatureSet::haar_basic,
                                        FeatureSet::haar_core, FeatureSet::haar_all});
  if (option == "window") add(&Settings::window, std::array{Size{20, 20}, Size{24, 24}});
  if (option == "hit-rate") add(&Settings::hit_rate, std::array{0.99, 0.995, 0.998, 0.999});
  if (option == "depth") add(&Settings::depth, std::array{1, 2, 3});
  if (option == "negatives-per-stage") {
    const int now = settings.negatives_per_stage;
    add(&Settings::negatives_per_stage, std::array{now / 2, 2 * now});
  }
  return others;
}

// Shows how far the training of a trial is, and notes what its stages accept.
class TrialObserver final : public training::TrainingObserver {
 public:
  TrialObserver(TrainingReport& report, std::string name)
      : report_(report), name_(std::move(name)) {}

  void mines(int stage, const training::MiningProgress& progress) override {
    report_.show(fmt::format("{}: stage {}, {} of {} negatives", name_, stage, progress.found,
                             progress.wanted));
  }
  void begins(const training::StageStart& start) override {
    acceptances_.push_back(start.acceptance);
  }
  void has_tree(int stage, const training::StageTrainer& trainer) override {
    report_.show(
        fmt::format("{}: stage {}, {}", name_, stage, plural(trainer.trees().size(), "tree")));
  }

  // The fewest of `stages`, at least one, that accept no more than this part of all windows.
  int stages_accepting(double part, int stages) const {
    int least = 1;
    while (least < stages && (std::ssize(acceptances_) <= least || acceptances_[least] > part))
      ++least;
    return least;
  }

 private:
  TrainingReport& report_;
  std::string name_;
  std::vector<double> acceptances_;  // of the cascade before each stage
};

class Search {
 public:
  Search(const TrainCommand& command, std::shared_ptr<training::NegativePictures> negatives,
         const Backends& backends, const std::filesystem::path& journal, TrainingReport& report)
      : command_(command),
        negatives_(std::move(negatives)),
        backends_(backends),
        journal_(journal),
        report_(report),
        goal_(goal_of(training_options(command.training, 0, backends))) {}

  Settings best();

 private:
  const training::ObjectSamples& objects_of(Size window);
  int negatives_per_stage();
  void begin();
  Trial tried(const Settings& settings, int fold, const std::string& name);
  const Trial& trial_of(const Settings& settings, int fold, const std::string& name);
  void try_first(const Settings& settings);
  bool is_better(const Settings& settings, const Settings& best, const std::string& name);

  const TrainCommand& command_;
  std::shared_ptr<training::NegativePictures> negatives_;
  const Backends& backends_;
  SearchJournal journal_;
  TrainingReport& report_;
  double goal_;  // of trainings: accepted windows, as a part of all
  std::map<std::pair<int, int>, training::ObjectSamples> objects_;  // of each window
  std::vector<double> false_alarms_;  // of each fold, at which hit rates are compared if possible
};

Settings Search::best() {
  if (journal_.best()) return *journal_.best();
  Settings best = settings_of(command_);
  begin();
  if (best.negatives_per_stage == 0) best.negatives_per_stage = negatives_per_stage();
  std::vector<std::string> varied = command_.searched;
  if (std::ranges::any_of(command_.positives, training::is_vec_file) &&
      std::erase(varied, "window") > 0)
    report_.message("search: --window does not vary: the samples of a .vec file have one size");
  if (!varied.empty()) {
    report_.message(fmt::format("search: varies --{}; {} folds; begins with {}",
                                fmt::join(varied, ", --"), command_.folds, text_of(best)));
    try_first(best);
  }
  std::set<std::string> tried{text_of(best)};
  for (const std::string& option : varied)
    for (const Settings& other : with_other_values(best, option))
      if (tried.insert(text_of(other)).second && is_better(other, best, text_of(other, option)))
        best = other;
  report_.message("search: the best: " + text_of(best));
  journal_.end(best);
  return best;
}

// Finds mistakes before anything is trained.
void Search::begin() {
  const training::ObjectSamples& objects = objects_of(command_.samples.samples.window);
  const auto folds = static_cast<std::size_t>(command_.folds);
  if (negatives_->count() < folds || objects.object_count() < folds)
    throw UsageError(
        fmt::format("--search: {} folds need as many objects and as many pictures for "
                    "negatives; there are {} and {}",
                    folds, objects.object_count(), negatives_->count()));
  journal_.begin({{"samples", training::checksum(objects.samples)},
                  {"pictures", negatives_->checksum()},
                  {"stages", command_.training.stages},
                  {"goal", command_.training.goal}});
}

// As many as positives.
int Search::negatives_per_stage() {
  const double held_out = command_.validation.empty() ? command_.training.held_out : 0;
  const double all =
      static_cast<double>(objects_of(command_.samples.samples.window).samples.count());
  const int learnt = std::max(10, static_cast<int>(std::lround(all * (1 - held_out))));
  const int most = command_.training.positives_per_stage;
  return most > 0 ? std::clamp(most, 10, learnt) : learnt;
}

const training::ObjectSamples& Search::objects_of(Size window) {
  const std::pair key(window.width, window.height);
  if (!objects_.contains(key)) {
    training::PositiveOptions options = command_.samples;
    options.samples.window = window;
    objects_.emplace(key, training::read_positives(command_.positives, options));
  }
  return objects_.at(key);
}

// The number in a training with all folds but one.
int part_of(int all, int folds) {
  return all == 0 ? 0
                  : static_cast<int>(
                        std::max<std::int64_t>(10, std::int64_t{all} * (folds - 1) / folds));
}

// Trains with all other folds. Cascades go beyond the goal, because they accept more windows of
// pictures that they were not trained with. Throws ArgumentError if there is no cascade, or nothing
// to try it on.
Trial Search::tried(const Settings& settings, int number, const std::string& name) {
  const auto begun = std::chrono::steady_clock::now();
  const int seed = command_.samples.samples.seed;
  const training::Fold fold{number, command_.folds, static_cast<std::uint64_t>(seed)};
  auto [learnt, apart] = divided(objects_of(settings.window), fold);
  require_enough(learnt, apart);
  const training::DividedPictures pictures = training::divided(negatives_, fold);

  TrainCommand command = command_;
  apply(settings, command);
  TrainOptions& options = command.training;
  options.held_out = 0;
  options.negatives_per_stage = part_of(options.negatives_per_stage, fold.count);
  options.positives_per_stage = part_of(options.positives_per_stage, fold.count);
  options.stages = 2 * command_.training.stages;
  options.goal = goal_ / 16;
  training::TrainingSets sets{.positives = std::move(learnt),
                              .held_out_positives = {settings.window, {}},
                              .negatives = open_mine(pictures.learnt, options, seed, backends_)};
  const training::FeaturePool pool = training::make_pool(options.features, settings.window);
  TrialObserver observer(report_, name);
  training::TrainingStore nothing_kept;
  const training::TrainingResult trained = training::train(
      pool, begun_with(nullptr, options, settings.window), sets,
      training_options(options, seed, backends_), nothing_kept, observer, interrupted);
  const Cascade& cascade = trained.cascade;
  if (cascade.stages.empty())
    throw ArgumentError(fmt::format("in fold {}, {}", number, trained.sentence));
  Trial trial{.settings = text_of(settings),
              .fold = number,
              .stages = static_cast<int>(cascade.stages.size()),
              .trees = cascade.trees.size()};
  report_.show(name + ": the cascade is tried");
  const double part = std::max(1e-3, 8 * goal_);
  trial.curve = training::curve_of(cascade, observer.stages_accepting(part, trial.stages), apart,
                                   *pictures.tried, options.scale_factor,
                                   make_backend_of(backends_), interrupted);
  if (trial.curve.megapixels == 0)
    throw ArgumentError(fmt::format(
        "none of the pictures for negatives in fold {} can be read and is as large as the window",
        number));
  trial.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  return trial;
}

// That of an earlier run, or a new one.
const Trial& Search::trial_of(const Settings& settings, int fold, const std::string& name) {
  const std::string text = text_of(settings);
  if (!journal_.find(text, fold))
    journal_.add(tried(settings, fold, fmt::format("{}, fold {}", name, fold)));
  return *journal_.find(text, fold);
}

// What several folds have in common.
class Mean {
 public:
  void add(double value) { values_.push_back(value); }
  double value() const {
    return std::accumulate(values_.begin(), values_.end(), 0.0) /
           static_cast<double>(std::max<std::size_t>(values_.size(), 1));
  }
  // "0.0123 (0.0101 to 0.0145)", or of a difference, "+0.0123 (-0.0101 to +0.0345)"
  std::string text(bool is_difference = false) const {
    const auto [least, most] = std::ranges::minmax(values_);
    return is_difference ? fmt::format("{:+.4f} ({:+.4f} to {:+.4f})", value(), least, most)
                         : fmt::format("{:.4f} ({:.4f} to {:.4f})", value(), least, most);
  }

 private:
  std::vector<double> values_;
};

std::string per_megapixel(double false_alarms) {
  return fmt::format("{:.{}f} false alarms per megapixel", false_alarms, false_alarms < 10 ? 1 : 0);
}

std::string text_of(const Trial& trial) {
  return fmt::format("{}, {}, {:.1f} s", plural(trial.stages, "stage"), plural(trial.trees, "tree"),
                     trial.seconds);
}

// Hit rates are compared at the false alarms of the goal, but at least at ten windows, and at no
// fewer than these settings come to.
void Search::try_first(const Settings& settings) {
  Mean rate, false_alarms;
  std::string trials;
  for (int fold = 0; fold < command_.folds; ++fold) {
    const Trial& trial = trial_of(settings, fold, "the settings given");
    const Curve& curve = trial.curve;
    false_alarms_.push_back(
        std::max({goal_ * static_cast<double>(curve.windows) / curve.megapixels,
                  10 / curve.megapixels, curve.false_alarms(curve.points.back())}));
    false_alarms.add(false_alarms_.back());
    rate.add(hit_rate_at(curve, false_alarms_.back()).value());
    trials = text_of(trial);
  }
  report_.message(fmt::format("search: the settings given: hit rate {}, at {}; {}", rate.text(),
                              per_megapixel(false_alarms.value()), trials));
}

// Compares hit rates in all folds, at the fewest false alarms to which both settings come.
bool Search::is_better(const Settings& settings, const Settings& best, const std::string& name) {
  // Settings that come to no fewer than several times those of the first settings are no choice.
  constexpr double most_false_alarms = 4;
  // With so much lower rates, more folds would only take time.
  constexpr double hopeless = -0.02;
  Mean rate, gain, false_alarms;
  std::string trials;
  int better = 0;  // folds, less those in which it is worse
  for (int fold = 0; fold < command_.folds && (fold == 0 || gain.value() >= hopeless); ++fold) {
    const Curve& best_curve = trial_of(best, fold, name).curve;
    const Trial* trial = nullptr;
    try {
      trial = &trial_of(settings, fold, name);
    } catch (const ArgumentError& error) {
      report_.message(fmt::format("search: {}: {}", name, error.what()));
      return false;
    }
    const double fewest = trial->curve.false_alarms(trial->curve.points.back());
    if (fewest > most_false_alarms * false_alarms_[fold]) {
      report_.message(fmt::format("search: {}: not comparable: no fewer than {}; {}", name,
                                  per_megapixel(fewest), text_of(*trial)));
      return false;
    }
    const double at =
        std::max({false_alarms_[fold], fewest, best_curve.false_alarms(best_curve.points.back())});
    const double hit_rate = hit_rate_at(trial->curve, at).value(),
                 difference = hit_rate - hit_rate_at(best_curve, at).value();
    false_alarms.add(at);
    rate.add(hit_rate);
    gain.add(difference);
    better += difference > 0 ? 1 : -1;
    trials = text_of(*trial);
  }
  report_.message(fmt::format("search: {}: hit rate {:.4f}, {} against the best so far, at {}; {}",
                              name, rate.value(), gain.text(true),
                              per_megapixel(false_alarms.value()), trials));
  return gain.value() > 0 && better > 0;
}

}  // namespace

TrainCommand with_best_settings(const TrainCommand& command,
                                std::shared_ptr<training::NegativePictures> negatives,
                                const Backends& backends, const std::filesystem::path& journal,
                                TrainingReport& report) {
  const Settings best = Search(command, std::move(negatives), backends, journal, report).best();
  TrainCommand chosen = command;
  apply(best, chosen);
  return chosen;
}

}  // namespace facesat::app
