// Compares SAT (summed area table) algorithms on one frame, one algorithm at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/live/detection/copy_speed.hpp"
#include "app/live/frames/capture.hpp"
#include "core/cascade.hpp"
#include "facesat.hpp"
#include "media/codec.hpp"

namespace facesat::app {

struct SatRank {
  std::string id;
  double sat_ms = 0;      // median time of the integral images
  double detect_ms = 0;   // median time of the whole detection; 0: was not measured
  bool identical = true;  // the same results as those of the first algorithm that ran
  std::string failure;    // why there are no times; empty: there are
};

// What is known so far. It is complete once `running` is empty.
struct Comparison {
  bool on_device = false;      // false: the CPU's algorithms are compared
  std::string frame;           // the name of the source
  std::uint64_t source = 0;    // CapturedFrame::source
  std::vector<SatRank> ranks;  // the fastest first, failures last
  Size image;                  // the size of the frame
  std::size_t levels = 0;      // of its pyramid
  // The size of the atlas: the image that holds the levels of the pyramid and is summed. If there
  // are several atlases, the size of the largest. Only on a device.
  Size atlas;
  double floor_ms = 0;    // the time to copy as many bytes as must be read and written; 0: unknown
  std::size_t count = 0;  // of the algorithms that are compared
  std::string running;    // the algorithm that is measured next
  std::string message;    // why ranks are missing
};

// The frame in which algorithms are compared, and how it is searched. `speed` gives the floor.
struct ComparedFrame {
  std::shared_ptr<const Cascade> cascade;
  DetectOptions detect;
  Picture picture;
  CopySpeed speed;
};

// What is known before anything is measured.
Comparison plan_comparison(const ComparedFrame& frame, bool on_device);

// Measures one algorithm. May throw.
using MeasureSat = std::function<SatRank(const std::string& id)>;

// Not for use by several threads at once.
class ComparisonRun {
 public:
  // `begin` says what is compared; the results are added to it.
  ComparisonRun(Comparison begin, std::vector<std::string> ids, MeasureSat measure);

  bool is_over() const { return comparison_.running.empty(); }
  // Measures the next algorithm, which takes up to about a second. An exception becomes that
  // algorithm's failure.
  void measure_next();
  // Leaves out the rest, for this reason.
  void stop(const std::string& reason);
  const Comparison& comparison() const { return comparison_; }

 private:
  Comparison comparison_;
  std::vector<std::string> ids_;
  MeasureSat measure_;
};

// Detects faces with each algorithm on the device that `options` choose; their faces are compared.
MeasureSat measure_on_device(const BackendOptions& options, const ComparedFrame& frame);

// Times the CPU's own algorithms, those of lab/problems/on_cpu.hpp: each computes both integral
// images of every level of the frame's pyramid, in one thread. Its tables are compared with those
// of cpu_2r2w, element by element.
MeasureSat measure_on_cpu(const ComparedFrame& frame);

struct SatTimes {
  double sat_ms = 0, detect_ms = 0;
};

// Calls measure_once() three times to warm up, then fifteen times; what is slow runs less often,
// but counts at least three times. Returns the medians.
SatTimes median_of_runs(const std::function<SatTimes()>& measure_once);

class FaceSearch;

// The comparison on a frame of the window. Belongs to one thread at a time.
class LiveComparison {
 public:
  // Begins with this frame, in place of a comparison that is not over. It has its own hold on the
  // frame, so that it goes on while a video plays.
  void begin(const CapturedFrame& frame, const FaceSearch& search);
  bool is_under_way() const { return run_.has_value(); }
  // Measures the next algorithm, or ends early if the newest frame is of another source, or faces
  // are detected elsewhere.
  void go_on(const CapturedFrame& newest, const FaceSearch& search);
  // As far as it has come.
  const Comparison& now() const { return now_; }

 private:
  // What a comparison belongs to.
  struct Subject {
    std::uint64_t source = 0;
    BackendOptions machine;
    bool operator==(const Subject&) const = default;
  };
  static Subject subject_of(const CapturedFrame& frame, const FaceSearch& search);

  Subject subject_;
  std::optional<ComparisonRun> run_;
  Comparison now_;
};

}  // namespace facesat::app
