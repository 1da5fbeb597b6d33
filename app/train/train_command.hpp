// facesat train: makes a cascade for an object of the user's own.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "datasets/positives.hpp"
#include "facesat.hpp"

namespace CLI {
class App;
}

namespace facesat::app {

struct TrainCommand {
  std::vector<std::string> positives;   // sources: see training::read_positives
  std::vector<std::string> validation;  // the same, to hold out
  std::vector<std::string> negatives;   // see training::NegativeSources, or annotations
  std::string output;
  std::string from;  // a cascade to go on from: "FILE" or "FILE:STAGES"
  bool recursive = false;
  training::PositiveOptions samples;
  TrainOptions training;
  std::vector<std::string> searched;  // options: see search_journal.hpp
  int folds = 3;                      // of the search
  BackendOptions backend;
  int jobs = 0;  // 0: all cores
  bool restart = false;
  bool quiet = false;
};

// What the cascade depends on, as text: a training goes on only with the same.
nlohmann::ordered_json options_of(const TrainCommand& command);

CLI::App* add_train(CLI::App& program, TrainCommand& command);

// Returns the exit status: 1 if some inputs were refused, else 0. Throws UsageError, OutputError,
// BackendError, DeviceError.
int run_train(const TrainCommand& command);

}  // namespace facesat::app
