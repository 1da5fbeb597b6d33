// Trains a cascade, stage by stage: the positives that pass so far, negatives that are mistaken for
// them, boosted trees that tell them apart, and again.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "boosting/feature_pool.hpp"
#include "boosting/samples.hpp"
#include "boosting/stage_trainer.hpp"
#include "boosting/tree.hpp"
#include "core/cascade.hpp"
#include "core/stop.hpp"
#include "training/mining.hpp"

namespace facesat::training {

struct TrainingOptions {
  FeatureSet features = FeatureSet::haar_basic;
  StageOptions stage;
  int stages = 20;
  std::size_t positives = 0;  // most per stage, chosen at random; 0: all that there are
  std::size_t negatives = 0;  // the same; 0: as many as positives
  double held_out = 0.1;      // negatives held out, as a fraction of those that are learnt from
  // Training ends when the cascade accepts no more than this part of the windows searched for
  // negatives. 0: max_false_alarm to the power of `stages`, divided by the depth of trees.
  double goal = 0;
  std::uint64_t seed = 1;  // of the choice of positives
};
double goal_of(const TrainingOptions& options);

// By which samples are known again.
std::uint64_t checksum(const Samples& samples);

struct StageStart {
  int stage = 0;
  std::size_t positives = 0, negatives = 0, held_out_positives = 0, held_out_negatives = 0;
  std::size_t kept = 0;   // of the negatives, those that the last stage had, too
  double acceptance = 1;  // of the windows searched, those that the cascade accepts so far
  bool is_resumed = false;
};

// Is told what happens, by the thread that trains.
class TrainingObserver {
 public:
  virtual ~TrainingObserver() = default;
  virtual void mines(int /*stage*/, const MiningProgress&) {}
  virtual void begins(const StageStart&) {}
  virtual void has_tree(int /*stage*/, const StageTrainer&) {}
  virtual void ends(int /*stage*/, const StageTrainer&) {}
  // Called once the stage is part of the cascade; returns whether further ones are to follow.
  virtual bool goes_on(const Cascade&) { return true; }
  // The windows most like objects among the negatives: where objects may have been overlooked.
  virtual void has_negatives(int /*stage*/, const Samples&, const std::vector<Origin>&) {}
};

// The samples of a stage, once they have been found.
struct StageState {
  int stage = 0;
  std::uint64_t positives = 0;  // checksum of all
  double acceptance = 1;        // of the windows searched for these negatives
  std::size_t kept = 0;         // of the negatives, those of the stage before
  Samples negatives, held_out_negatives;
  MineState mine;  // after they were found
};

// Where a training keeps what is needed to go on when it has been ended. This one keeps nothing.
class TrainingStore {
 public:
  virtual ~TrainingStore() = default;
  // What was kept last, if anything was. Throws UsageError unless it is of the training of a
  // cascade with this window and so many stages so far.
  virtual std::optional<StageState> state(Size /*window*/, int /*stages*/) const { return {}; }
  virtual void keep(const StageState&) {}
  // The trees of a stage so far.
  virtual std::vector<TrainedTree> trees(int /*stage*/, const FeaturePool&) const { return {}; }
  virtual void keep(int /*stage*/, const TrainedTree&) {}
  virtual void keep(const Cascade&) {}
};

struct TrainingSets {
  Samples positives, held_out_positives;
  std::shared_ptr<Mine> negatives;
};

enum class Ending { all_stages, told, goal_reached, no_negatives, no_positives, nothing_to_learn };

struct TrainingResult {
  Cascade cascade;
  Ending ending = Ending::all_stages;
  std::string sentence;  // why training has ended, for the user
};

// Trains the stages that `cascade` lacks; features and window are those of `pool`. After each tree
// and each stage, `store` has what is needed to go on; a call with the same arguments then goes on
// where an earlier one was ended, however it was, and gives the same cascade, whatever the number
// of threads. Throws Stopped, ArgumentError, MemoryError, and what `store` and `observer` throw.
TrainingResult train(const FeaturePool& pool, Cascade cascade, TrainingSets& sets,
                     const TrainingOptions& options, TrainingStore& store,
                     TrainingObserver& observer, const ShouldStop& should_stop);

}  // namespace facesat::training
