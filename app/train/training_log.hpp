// Reads what facesat train notes while it trains, also while it does.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "boosting/stage_trainer.hpp"

namespace facesat::app {

// The log of the training whose cascade becomes this file.
std::filesystem::path log_of_training(const std::filesystem::path& cascade);

struct LoggedStage {
  std::size_t positives = 0, negatives = 0;
  double acceptance = 1;                      // of all windows, by the stages before
  int trees = 0;                              // so far
  training::Rates rates;                      // with these
  std::optional<training::Rates> held_out{};  // at the end
  bool is_complete = false;
};

// Follows a log that grows. Not for use by several threads at once.
class TrainingLog {
 public:
  explicit TrainingLog(std::filesystem::path file) : file_(std::move(file)) {}

  // Reads the lines that were added; all of them, if the file was replaced by another one. A line
  // that is not complete is read once it is; what is damaged is left out. Returns whether there
  // were any.
  bool read();

  const std::vector<LoggedStage>& stages() const { return stages_; }
  const std::string& message() const { return message_; }  // what was said last

 private:
  void add(const std::string& line);

  std::filesystem::path file_;
  std::uintmax_t position_ = 0;  // of the first byte that was not read
  std::vector<LoggedStage> stages_;
  std::string message_;
};

}  // namespace facesat::app
