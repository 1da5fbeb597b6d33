// Files in which a training keeps what is needed to go on: the cascade so far, and in a folder the
// samples of the stage that is trained, and its trees so far.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "training/trainer.hpp"

namespace facesat::training {

// The folder may be read and written by one program at a time. A program that is killed loses
// nothing but what it was writing: files are replaced as a whole, or a line is added.
class TrainingFolder final : public TrainingStore {
 public:
  // Creates the folder if need be. `comment` becomes part of the cascade's file, `output`. Throws
  // OutputError, UsageError if it has files of others.
  TrainingFolder(const std::filesystem::path& folder, std::filesystem::path output,
                 std::string comment);

  // Throws UsageError if it is damaged, too.
  std::optional<StageState> state(Size window, int stages) const override;
  void keep(const StageState& state) override;

  // A line that was not completed counts for nothing. Throws UsageError for what is damaged
  // otherwise.
  std::vector<TrainedTree> trees(int stage, const FeaturePool& pool) const override;
  void keep(int stage, const TrainedTree& tree) override;

  void keep(const Cascade& cascade) override;

 private:
  std::filesystem::path samples_, trees_, output_;
  std::string comment_;
};

// Replaces the file by another one: it has the old contents or the new ones, even if the program is
// killed. Throws OutputError.
void replace_file(const std::filesystem::path& file, std::string_view bytes);

}  // namespace facesat::training
