// Compares SAT (summed area table) algorithms on one frame, or on the pictures of a list, one
// algorithm at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/live/frames/capture.hpp"
#include "core/cascade.hpp"
#include "facesat.hpp"
#include "kernels/device/gpu_info.hpp"
#include "lab/measure.hpp"
#include "media/codec.hpp"

namespace facesat::app {

struct SatRank {
  std::string id;
  double sat_ms = 0;      // median time of the integral images; of several pictures: the sum
  double detect_ms = 0;   // the same of the whole detection; 0: was not measured
  bool identical = true;  // the results are right, or the same as those of the first algorithm
  std::string failure;    // why there are no times; empty: there are
};

// What is known so far. It is complete once `running` is empty.
struct Comparison {
  bool on_device = false;      // false: the CPU's algorithms are compared
  std::string source_name;     // or which of the pictures of a list they are
  std::uint64_t source = 0;    // CapturedFrame::source
  std::vector<SatRank> ranks;  // the fastest first, failures last
  std::size_t pictures = 1;    // that the times are of
  Size image;                  // the size of the frame, if it is the only one
  std::size_t levels = 0;      // of all pyramids
  // The size of the atlas: the image that holds the levels of the pyramid and is summed. If there
  // are several atlases, the size of the largest. Only on a device, of a single frame.
  Size atlas;
  double floor_ms = 0;    // the time to copy as many bytes as must be read and written; 0: unknown
  std::size_t count = 0;  // of the algorithms that are compared
  std::string running;    // what is measured next; empty: nothing
  std::string message;    // why ranks are missing
};

// The frame in which algorithms are compared, and how it is searched. `speed` gives the floor.
struct ComparedFrame {
  std::shared_ptr<const Cascade> cascade;
  DetectOptions detect;
  Picture picture;
  gpu::CopySpeed speed;
};

// What is known before anything is measured.
Comparison plan_comparison(const ComparedFrame& frame, bool on_device);

// An algorithm that is compared.
struct ComparedSat {
  lab::Subject subject;
  // Whole detections in microseconds, one for each timed run; null: there are none.
  std::shared_ptr<std::vector<double>> detect_us{};
};

// Detect faces with each algorithm on the device that `options` choose; what is timed is the step
// of the integral images. Their faces are compared with those of the first one that runs.
std::vector<ComparedSat> sats_on_device(const BackendOptions& options, const ComparedFrame& frame,
                                        const std::vector<std::string>& ids);

// The CPU's own algorithms as `facesat bench sat` measures and checks them: each computes both
// integral images of every level of the frame's pyramid, in one thread.
std::vector<ComparedSat> sats_on_cpu(const ComparedFrame& frame);

// Measures algorithms as lab/measure.hpp does, one after the other and a run at a time, so that
// frames can be processed in between. Not for use by several threads at once.
class ComparisonRun {
 public:
  // `begin` says what is compared; the results are added to it.
  ComparisonRun(Comparison begin, const std::vector<ComparedSat>& sats);

  bool is_over() const { return is_stopped_ || measuring_.is_over(); }
  // The next run of the algorithm. Returns whether that has completed its measurement.
  bool go_on();
  // Leaves out the rest, for this reason.
  void stop(const std::string& reason);
  const Comparison& comparison() const { return comparison_; }

 private:
  Comparison comparison_;
  std::vector<ComparedSat> sats_;
  lab::Measuring measuring_;
  bool is_stopped_ = false;
};

class FaceSearch;

// The names of sources that open_source() takes.
using SourceNames = std::vector<std::string>;

// Adds the results for one more picture to those for the pictures before. An algorithm that has
// failed once has no times.
void add_picture(Comparison& sum, const Comparison& picture);

// The comparison on a frame of the window, or on pictures. Belongs to one thread at a time.
class LiveComparison {
 public:
  static constexpr std::size_t most_pictures = 64;

  // Begins with this frame, in place of a comparison that is not over. It has its own hold on the
  // frame, so that it goes on while a video plays. If there are pictures, they are compared
  // instead, one after the other; of more than most_pictures, that many, evenly spaced.
  void begin(const CapturedFrame& frame, const FaceSearch& search, const SourceNames& pictures);
  bool is_under_way() const { return run_ || !pictures_.empty(); }
  // Measures a run of the next algorithm, or ends early if the newest frame is of another list (or,
  // when one frame is measured, source), or faces are detected elsewhere. Returns whether now() has
  // changed.
  bool go_on(const CapturedFrame& newest, const FaceSearch& search);
  // As far as it has come.
  const Comparison& now() const { return current_; }

 private:
  // What a comparison belongs to.
  struct Basis {
    std::uint64_t list = 0, source = 0;
    BackendOptions machine;
    bool operator==(const Basis&) const = default;
  };
  Basis basis_of(const CapturedFrame& frame, const FaceSearch& search) const;
  void begin_frame(const Picture& picture, const std::string& name, const FaceSearch& search);
  void begin_next_picture(const FaceSearch& search);
  void finish_run();
  void end_early(const std::string& reason);

  Basis basis_;
  bool is_list_ = false;
  std::size_t listed_ = 0, chosen_ = 0;  // pictures of a list: all, and those that are measured
  SourceNames pictures_;                 // that are not measured yet, the next one last
  std::optional<ComparisonRun> run_;
  Comparison current_;
};

}  // namespace facesat::app
