// facesat evaluate: annotated pictures against one or several cascades.
#pragma once

#include <string>
#include <vector>

#include "app/detect/options.hpp"
#include "datasets/evaluation.hpp"

namespace facesat::app {

// What is varied to get operating points: the windows that a face needs; a threshold on the scores
// of faces; the number of stages that windows pass; a threshold on the scores of windows.
enum class Sweep { neighbors, score, stages, windows };

// The values of the options; options.cpp has the help text of each option.
struct EvaluateCommand {
  std::string annotations;
  std::vector<std::string> cascades;  // names or files
  std::string root;                   // of the names in the annotations; empty: their folder
  std::vector<std::string> labels;    // of the objects that count; empty: all
  std::vector<std::string> pictures;  // folders with pictures without objects
  training::MatchOptions match;
  std::vector<Sweep> sweeps;  // that are printed; by stages only if it is among them
  std::vector<std::string> outputs;
  DetectOptions detect;
  BackendOptions backend;
  SearchOptions search;
  int jobs = 0;  // 0: all cores
  bool quiet = false;
  ProgressChoice progress = ProgressChoice::automatic;
  std::string line;  // the command as it could be typed

  bool has(Sweep sweep) const;
};

// Adds the subcommand; parsing fills `command`, which must outlive the parser.
CLI::App* add_evaluate(CLI::App& program, EvaluateCommand& command);
// Returns the exit status.
int run_evaluate(const EvaluateCommand& command);

}  // namespace facesat::app
