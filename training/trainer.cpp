#include "training/trainer.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "training/cascade_prefix.hpp"
#include "training/judge.hpp"
#include "training/shuffle.hpp"

namespace facesat::training {
namespace {

// With fewer negatives, a stage would learn what has nothing to do with objects.
constexpr std::size_t least_negatives = 10;

// The number in `used` of a feature of `pool`, to which it is added if need be.
template <class Feature, class Same>
int number_of(std::vector<Feature>& used, const Feature& feature, Same same) {
  const auto found =
      std::ranges::find_if(used, [&](const Feature& other) { return same(other, feature); });
  if (found != used.end()) return static_cast<int>(found - used.begin());
  used.push_back(feature);
  return static_cast<int>(used.size()) - 1;
}

void append_stage(Cascade& cascade, const FeaturePool& pool, const StageTrainer& trained) {
  Stage stage{.first_tree = static_cast<int>(cascade.trees.size()),
              .tree_count = static_cast<int>(trained.trees().size()),
              .threshold = trained.threshold() - stage_margin};
  for (const TrainedTree& tree : trained.trees()) {
    cascade.trees.push_back({.first_node = static_cast<int>(cascade.nodes.size()),
                             .node_count = static_cast<int>(tree.nodes.size()),
                             .first_leaf = static_cast<int>(cascade.leaves.size())});
    for (Node node : tree.nodes) {
      node.feature = pool.kind == FeatureKind::haar
                         ? number_of(cascade.haar, pool.haar[node.feature], are_equal)
                         : number_of(cascade.lbp, pool.lbp[node.feature],
                                     [](const LbpFeature& a, const LbpFeature& b) {
                                       return a.block == b.block;
                                     });
      cascade.nodes.push_back(node);
    }
    for (const double leaf : tree.leaves) cascade.leaves.push_back(static_cast<float>(leaf));
  }
  cascade.stages.push_back(stage);
}

// The samples that all stages accept, in their order; if there are more than `most` (0: any
// number), those that come first in an order that is left to chance: the first ones in a file often
// have something in common.
Samples passing(const Cascade& cascade, const Samples& samples, std::size_t most,
                std::uint64_t seed, const ShouldStop& should_stop) {
  const std::vector<Judgement> results = judge(cascade, samples, should_stop);
  std::vector<std::size_t> passed;
  for (std::size_t i = 0; i < results.size(); ++i)
    if (results[i].stages_passed == std::ssize(cascade.stages)) passed.push_back(i);
  if (most > 0 && passed.size() > most) {
    const Shuffle order(samples.count(), seed);
    std::ranges::nth_element(passed, passed.begin() + static_cast<std::ptrdiff_t>(most), {},
                             [&](std::size_t i) { return order.rank_of(i); });
    passed.resize(most);
    std::ranges::sort(passed);
  }
  Samples chosen{.window = samples.window, .pixels = {}};
  for (const std::size_t i : passed) chosen.add(samples[i]);
  return chosen;
}

class Training {
 public:
  Training(const FeaturePool& pool, Cascade cascade, TrainingSets& sets,
           const TrainingOptions& options, TrainingStore& store, TrainingObserver& observer,
           const ShouldStop& should_stop)
      : pool_(pool),
        sets_(sets),
        options_(options),
        store_(store),
        observer_(observer),
        should_stop_(should_stop),
        result_{.cascade = std::move(cascade), .sentence = {}} {}

  TrainingResult run() {
    resume();
    while (number() < options_.stages && prepare()) {
      if (!train_stage()) return end(Ending::nothing_to_learn, nothing_to_learn());
      store_.keep(result_.cascade);
      if (!observer_.goes_on(result_.cascade))
        return end(Ending::told, fmt::format("ended after stage {}", number() - 1));
    }
    if (result_.sentence.empty())
      end(Ending::all_stages, options_.stages == 1
                                  ? "the one stage is trained"
                                  : fmt::format("all {} stages are trained", options_.stages));
    return std::move(result_);
  }

 private:
  int number() const { return static_cast<int>(result_.cascade.stages.size()); }
  TrainingResult& end(Ending ending, std::string sentence) {
    result_.ending = ending;
    result_.sentence = std::move(sentence);
    return result_;
  }

  void resume();
  bool prepare();
  bool find_negatives();
  bool has_reached_goal(double acceptance);
  void mine(std::size_t wanted, std::size_t held_out);
  bool train_stage();
  std::string nothing_to_learn() const {
    return fmt::format(
        "stage {} cannot be trained: no feature tells its positives from its negatives", number());
  }

  const FeaturePool& pool_;
  TrainingSets& sets_;
  const TrainingOptions& options_;
  TrainingStore& store_;
  TrainingObserver& observer_;
  const ShouldStop& should_stop_;
  TrainingResult result_;

  StageState state_;  // of the stage that is trained, or of the one before
  bool is_resumed_ = false;
  Samples positives_, held_out_positives_;  // that pass all stages before
};

void Training::resume() {
  const Samples none{.window = pool_.window, .pixels = {}};
  state_ = {.stage = -1,
            .positives = checksum(sets_.positives),
            .negatives = none,
            .held_out_negatives = none,
            .mine = {}};
  if (std::optional<StageState> state = store_.state(pool_.window, number())) {
    if (state->positives != state_.positives)
      throw ArgumentError(
          "the positives are not those with which training began: the same ones are needed");
    state_ = *std::move(state);
    is_resumed_ = state_.stage == number();
    sets_.negatives->restore(state_.mine);
  } else if (number() > 0) {
    store_.keep(result_.cascade);  // the stages of another cascade
  }
}

// Collects the samples of the next stage. Returns false if training ends.
bool Training::prepare() {
  const Cascade& cascade = result_.cascade;
  positives_ = passing(cascade, sets_.positives, options_.positives, options_.seed, should_stop_);
  held_out_positives_ = passing(cascade, sets_.held_out_positives, 0, options_.seed, should_stop_);
  if (positives_.count() == 0) {
    end(Ending::no_positives, number() == 0
                                  ? "none of the positives can be used: their contrast is too low"
                                  : "no positive passes the stages that there are");
    return false;
  }
  if (!is_resumed_ && !find_negatives()) return false;
  observer_.begins({.stage = number(),
                    .positives = positives_.count(),
                    .negatives = state_.negatives.count(),
                    .held_out_positives = held_out_positives_.count(),
                    .held_out_negatives = state_.held_out_negatives.count(),
                    .kept = state_.kept,
                    .acceptance = state_.acceptance,
                    .is_resumed = is_resumed_});
  return true;
}

// Those of the stage before that still pass, and new ones.
bool Training::find_negatives() {
  const auto wanted =
      std::max(options_.negatives > 0 ? options_.negatives : positives_.count(), least_negatives);
  const auto held_out =
      static_cast<std::size_t>(std::lround(options_.held_out * static_cast<double>(wanted)));
  state_.stage = number();
  state_.negatives =
      passing(result_.cascade, state_.negatives, wanted, options_.seed, should_stop_);
  state_.held_out_negatives =
      passing(result_.cascade, state_.held_out_negatives, held_out, options_.seed, should_stop_);
  state_.kept = state_.negatives.count();
  mine(wanted - state_.negatives.count(), held_out - state_.held_out_negatives.count());
  if (has_reached_goal(state_.acceptance)) return false;
  if (state_.negatives.count() < least_negatives) {
    end(Ending::no_negatives,
        number() == 0
            ? fmt::format(
                  "the pictures have {} windows for negatives, too few: the others lie at objects, "
                  "or have too little contrast",
                  state_.negatives.count())
            : fmt::format(
                  "the negatives are exhausted: {} of their windows pass{} all {} stages, too few "
                  "for another one; more pictures allow more stages",
                  state_.negatives.count(), state_.negatives.count() == 1 ? "es" : "", number()));
    return false;
  }
  store_.keep(state_);
  return true;
}

bool Training::has_reached_goal(double acceptance) {
  const double goal = goal_of(options_);
  if (number() == 0 || acceptance > goal) return false;
  end(Ending::goal_reached,
      fmt::format("the goal is reached: the cascade accepts {:.2g} of the windows without objects, "
                  "no more than {:.2g}",
                  acceptance, goal));
  return true;
}

// Adds new negatives to both sets, as evenly as they come: neither has all those of a picture.
void Training::mine(std::size_t wanted, std::size_t held_out) {
  Samples found{.window = pool_.window, .pixels = {}};
  const MiningProgress progress = sets_.negatives->find(
      result_.cascade, wanted + held_out, found,
      [&](const MiningProgress& so_far) { observer_.mines(number(), so_far); }, should_stop_);
  const std::size_t count = found.count();
  const std::size_t aside = count * held_out / std::max<std::size_t>(wanted + held_out, 1);
  for (std::size_t i = 0; i < count; ++i) {
    const bool is_aside = (i + 1) * aside / count > i * aside / count;
    (is_aside ? state_.held_out_negatives : state_.negatives).add(found[i]);
  }
  state_.acceptance = progress.windows == 0 ? 1
                                            : static_cast<double>(progress.accepted) /
                                                  static_cast<double>(progress.windows);
  state_.mine = sets_.negatives->state();
  observer_.has_negatives(number(), found, sets_.negatives->origins());
}

bool Training::train_stage() {
  StageTrainer trainer(pool_,
                       {.positives = std::move(positives_),
                        .negatives = state_.negatives,
                        .held_out_positives = std::move(held_out_positives_),
                        .held_out_negatives = state_.held_out_negatives},
                       options_.stage);
  for (TrainedTree& tree : store_.trees(number(), pool_)) trainer.add(std::move(tree));
  is_resumed_ = false;
  const auto is_complete = [&] {
    return !trainer.trees().empty() &&
           (trainer.has_reached_rate() || std::ssize(trainer.trees()) >= options_.stage.max_trees);
  };
  while (!is_complete()) {
    check_stop(should_stop_);
    if (!trainer.train_tree()) break;
    store_.keep(number(), trainer.trees().back());
    observer_.has_tree(number(), trainer);
  }
  if (trainer.trees().empty()) return false;
  observer_.ends(number(), trainer);
  append_stage(result_.cascade, pool_, trainer);
  return true;
}

}  // namespace

double goal_of(const TrainingOptions& options) {
  if (options.goal > 0) return options.goal;
  return std::pow(options.stage.max_false_alarm, options.stages) / options.stage.depth;
}

std::uint64_t checksum(const Samples& samples) {
  std::uint64_t sum = 0;
  for (const std::uint8_t pixel : samples.pixels) sum = mixed(sum + pixel);
  return sum;
}

TrainingResult train(const FeaturePool& pool, Cascade cascade, TrainingSets& sets,
                     const TrainingOptions& options, TrainingStore& store,
                     TrainingObserver& observer, const ShouldStop& should_stop) {
  return Training(pool, std::move(cascade), sets, options, store, observer, should_stop).run();
}

}  // namespace facesat::training
