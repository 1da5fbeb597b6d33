// From the options of a training to what trains.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "facesat.hpp"
#include "library/detect/backends.hpp"
#include "training/object_samples.hpp"
#include "training/trainer.hpp"

namespace facesat {

// The values that an option may have.
template <class Options>
struct Range {
  std::string_view name;  // of the member
  std::variant<int Options::*, double Options::*> member;
  double least, most;
  bool or_zero = false;  // 0, which is no number then, is right, too

  bool has(double value) const {  // NaN is outside
    return (or_zero && value == 0) || (value >= least && value <= most);
  }
  // "a whole number from 1 to 12"
  std::string text() const {
    return fmt::format("{}a {}number from {:.10g} to {:.10g}", or_zero ? "0 or " : "",
                       member.index() == 0 ? "whole " : "", least, most);
  }
};

const std::vector<Range<SampleOptions>>& sample_ranges();
const std::vector<Range<TrainOptions>>& training_ranges();
// A sentence if the window is smaller or larger than is possible.
std::string why_no_window(Size window);
// Throw ArgumentError with the member's name.
void check(const SampleOptions& options);
void check(const TrainOptions& options);

// The parts of a training; the options must have been checked. If there are devices, they search
// and train, and threads take them in turns.
training::TrainingOptions training_options(const TrainOptions& options, int seed,
                                           const Backends& backends);
training::MakeBackend make_backend_of(const Backends& backends);
std::unique_ptr<training::Mine> open_mine(std::shared_ptr<training::NegativePictures> negatives,
                                          const TrainOptions& options, int seed,
                                          const Backends& backends);

// Throws ArgumentError if there are too few samples to learn from.
void require_enough(const training::Samples& learnt, const training::Samples& held_out);

// What a training begins with: no stages, or those of `from`. Throws ArgumentError if that has
// other features, another window, or more stages than are wanted.
Cascade begun_with(const Cascade* from, const TrainOptions& options, Size window);

// The samples of images in memory, and those to look for negatives in.
training::ObjectSamples samples_of(std::span<const TrainingImage> images,
                                   const SampleOptions& options);
std::shared_ptr<training::NegativePictures> negatives_of(std::span<const TrainingImage> images);

// The public train(), from any source of samples and negatives.
Training train(const training::ObjectSamples& objects,
               std::shared_ptr<training::NegativePictures> negatives, const SampleOptions& samples,
               const TrainOptions& options, const BackendOptions& backend, const OnStage& on_stage,
               const ShouldStop& should_stop, const std::shared_ptr<const Cascade>& from);

}  // namespace facesat
