// facesat train --search: finds settings of a training by cross validation.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string_view>

#include "app/train/train_command.hpp"
#include "app/train/training_report.hpp"
#include "library/detect/backends.hpp"
#include "training/negative_pictures.hpp"

namespace facesat::app {

// The options that a search can vary, in this order.
std::span<const std::string_view> searchable_options();

// The command with those values of `command.searched` that find the most: of the positives that a
// cascade was not trained with, at equal numbers of false alarms in pictures that it was not
// trained with.
//
// The positives and the pictures are divided into `command.folds` folds. The values of the command
// are tried first. Then one option after the other takes some other values, and keeps the best one.
// `journal` has a line for each fold and value, so that an interrupted search can go on; `report`
// is told of each value. Throws Stopped, UsageError, ArgumentError if there are too few samples or
// pictures, OutputError.
TrainCommand with_best_settings(const TrainCommand& command,
                                std::shared_ptr<training::NegativePictures> negatives,
                                const Backends& backends, const std::filesystem::path& journal,
                                TrainingReport& report);

}  // namespace facesat::app
