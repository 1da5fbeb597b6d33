// Searches the pictures of an evaluation, and counts at all operating points.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/evaluate/evaluate.hpp"
#include "app/evaluate/pictures.hpp"
#include "core/cascade.hpp"
#include "results/results.hpp"

namespace facesat::app {

// By stages, a picture in which more windows pass would take too long to be grouped.
constexpr std::size_t most_windows_by_stages = 100'000;

struct Point {
  double value = 0;  // of what is varied
  training::Counts counts;
  // By windows and by stages: the part of all windows that the cascade (or its first stages)
  // accepts without being right.
  std::optional<double> window_rate;
};

struct Curve {
  Sweep sweep;
  std::vector<Point> points;  // from strict to lenient, but by neighbors and stages in their order
};

// An object that was not found, or a detection that is false, with the number of the picture.
struct Miss {
  std::size_t picture;
  training::Box box;
};
struct FalseAlarm {
  std::size_t picture;
  Face face;
};

struct CascadeResult {
  std::string name;  // as given
  Size window;
  std::size_t stages = 0;
  training::Counts counts;  // with the options as given; misses and false alarms are those
  std::vector<Curve> curves;
  double average_precision = 0;  // by score
  std::vector<Miss> misses;
  std::vector<FalseAlarm> false_alarms;
  std::size_t fewest_stages = 1;  // by stages
};

struct Evaluation {
  std::size_t pictures = 0, objects = 0, ignored = 0;  // that were evaluated
  std::size_t failures = 0;                            // pictures that could not be read
  std::vector<CascadeResult> cascades;
};

// What one picture contributes, to all cascades.
struct PictureResult;

// Searches by any number of threads.
class Measurement {
 public:
  // Throws CascadeError, ArgumentError, BackendError. `notify`: see Detector.
  Measurement(const EvaluateCommand& command, const Detector::Notify& notify,
              ShouldStop should_stop);
  ~Measurement();

  void announce() const;                      // as Detector::announce()
  std::vector<std::string> failures() const;  // as Detector::failures()

  // Null if it was stopped. Throws what ends the run: DeviceError.
  std::shared_ptr<const PictureResult> measure(const TestPicture& picture) const;
  // Adds the result to the sums. For the pictures in their order, by one thread at a time. Returns
  // a sentence on what is wrong with the picture, or an empty one.
  std::string add(const TestPicture& picture, const PictureResult& result);
  // The faces found so far with the options as given, by all cascades.
  std::size_t faces() const;
  std::size_t failed_pictures() const;

  // Once all pictures are added. Throws UsageError if none of them could be read.
  Evaluation finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Measures the pictures in parallel, up to `in_flight` at once, and adds them in their order; after
// each, calls added() with what is wrong with it, if anything is. Returns false if it was stopped.
bool measure_all(const std::vector<TestPicture>& pictures, Measurement& measurement,
                 std::size_t in_flight, const std::function<void(const std::string&)>& added,
                 const ShouldStop& should_stop);

}  // namespace facesat::app
