// What the detection thread gives to the window.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/live/detection/inspection.hpp"
#include "app/live/detection/live_settings.hpp"
#include "app/live/detection/tracker.hpp"
#include "app/live/frames/capture.hpp"
#include "results/results.hpp"

namespace facesat::app {

// What is measured: times of one subject may be compared and averaged.
struct Subject {
  std::uint64_t source = 0, settings = 0;  // counted as they change
  Size size;                               // of the frame
  std::uint64_t filter = 0;                // counts changes of the filter

  bool operator==(const Subject&) const = default;
};

// A number of bytes for each step of detection.
using StepBytes = std::array<double, step_names.size()>;

struct LiveResult {
  CapturedFrame frame;
  Subject subject;
  Subject any_sat;          // `subject` without regard to the SAT algorithm and the filter
  bool is_new = true;       // false: settings changed, and the frame was detected again
  LiveSettings settings;    // with which the frame was detected
  std::vector<Face> faces;  // in the order of results; cascade: its colour's number
  std::optional<InspectedPicture> view;   // shown instead of the frame, if selected
  bool view_is_frame = true;              // the boxes can be drawn onto `view`
  std::optional<FilterResult> filter;     // if `view` is a filtered image
  std::size_t rejected = 0;               // faces that were left out for that reason
  std::optional<Track> track;             // if an object is followed
  std::string track_ended;                // why one is no longer followed, until another one is
  int level_count = 0;                    // of the inspected cascade's pyramid
  std::optional<LevelTables> tables;      // of the selected level, if it is to be explained
  std::optional<WindowLikeBox> like_box;  // if a box is to be explained: on that level
  std::size_t evaluated = 0;              // windows, of all levels and cascades
  std::size_t windows = 0;                // that passed, before grouping
  StepTimes times;                        // of all cascades together
  std::vector<KernelTime> kernels;        // of all cascades, if they are measured
  StepTimes floors;                       // times to copy `bytes`; 0: unknown
  StepBytes bytes{};                      // see least_bytes()
  double detect_ms = 0;                   // from frame to faces
  std::string backend;                    // "CPU", or the name of the device
  std::string sat;                        // the SAT algorithm on a device; empty on the CPU
  std::string message;                    // what went wrong, in which case there are no faces
  bool comes_again = false;  // after a failure: the CPU repeats this frame and takes over
};

// How the user rejects a face of this result for this frame.
inline RejectedFace rejected_face(const Face& face, const LiveResult& result,
                                  const CapturedFrame& frame) {
  return {frame.origin, frame.index,
          result.settings.cascades[result.settings.cascade_of_colour(face.cascade)], face.box};
}

// Further measurements of the result posted last, which is a still picture or a paused frame.
struct Repeats {
  struct Measurement {
    StepTimes times;
    std::vector<KernelTime> kernels;
    double detect_ms = 0;
    std::optional<FilterResult> filter;
  };
  Subject subject;
  std::vector<Measurement> measurements;
};

}  // namespace facesat::app
