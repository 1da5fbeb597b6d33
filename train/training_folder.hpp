// What is needed to go on with a training that has been ended: a folder with the samples of the
// stage that is trained, and its trees so far.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "boosting/samples.hpp"
#include "boosting/tree.hpp"

#include "train/mining.hpp"

namespace facesat::train {

struct StageState {
  int stage = 0;
  double acceptance = 1;  // of the windows searched for these negatives
  std::size_t kept = 0;   // of the negatives, those of the stage before
  Samples negatives, held_out_negatives;
  MineState mine;  // after they were found
};

// The folder may be read and written by one program at a time. A program that is killed loses
// nothing but what it was writing: files are replaced as a whole, or a line is added.
class TrainingFolder {
 public:
  // Creates the folder if need be. Throws OutputError, UsageError if it has files of others.
  explicit TrainingFolder(const std::filesystem::path& folder);

  // Nothing if there is none yet. Throws UsageError if it is damaged.
  std::optional<StageState> read_state() const;
  void write_state(const StageState& state) const;

  // The trees of a stage so far; a line that was not completed counts for nothing. Throws
  // UsageError for what is damaged otherwise.
  std::vector<TrainedTree> read_trees(int stage, const FeaturePool& pool) const;
  void add(int stage, const TrainedTree& tree);

 private:
  std::filesystem::path samples_, trees_;
};

// Replaces the file by another one: it has the old contents or the new ones, even if the program is
// killed. Throws OutputError.
void replace_file(const std::filesystem::path& file, std::string_view bytes);

}  // namespace facesat::train
