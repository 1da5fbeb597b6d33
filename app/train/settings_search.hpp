// facesat train --search: finds settings of a training by cross validation.
#pragma once

#include <filesystem>
#include <memory>

#include "app/train/train_command.hpp"
#include "app/train/training_report.hpp"
#include "library/detect/backends.hpp"
#include "training/negative_pictures.hpp"

namespace facesat::app {

// The command with the best values of `command.searched`. They are found by cross validation: the
// positives and the pictures are divided into `command.folds` folds, and a cascade that was trained
// without a fold is tried on it. Of two cascades that accept as few windows without objects, the
// one that accepts more positives is better. The values of the command are tried first; then one
// option after the other takes some other values, and keeps the best one.
//
// `journal` has what was tried, so that an interrupted search can go on, and the outcome: a search
// that has ended is not repeated. `report` is told of each value. Throws Stopped, OutputError,
// UsageError, and ArgumentError if there is not enough to learn from.
TrainCommand with_best_settings(const TrainCommand& command,
                                std::shared_ptr<training::NegativePictures> negatives,
                                const Backends& backends, const std::filesystem::path& journal,
                                TrainingReport& report);

}  // namespace facesat::app
