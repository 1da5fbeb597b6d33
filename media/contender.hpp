// A detector that is compared with others in a benchmark.
#pragma once

#include <string>
#include <vector>

#include "core/backend.hpp"

namespace facesat {

class Contender {
 public:
  virtual ~Contender() = default;

  virtual std::string name() const = 0;           // "facesat-cpu", "facesat-cuda", "opencv-cpu"
  virtual std::string sat() const { return ""; }  // id of its SAT algorithm, if it has a choice

  // Does the number of threads affect this detector?
  virtual bool has_threads() const { return true; }
  // From now on the detector uses this many threads.
  virtual void use_threads(int threads) = 0;

  // Loads the grey image to where the detector works on it; returns when it is there. The image
  // must stay valid until the next call.
  virtual void load(View<const std::uint8_t> gray) = 0;
  // Detects once, from the loaded grey image to faces; returns the number of faces.
  virtual std::size_t detect() = 0;
  // The same from the colour frame, including the conversion to grey and any upload.
  virtual std::size_t detect(View<const Bgr> frame) = 0;

  // Frames per second from the colour frame, with as many frames processed at the same time as the
  // detector can use: one by default.
  virtual double frames_per_second(View<const Bgr> frame, double seconds) {
    double ms = 0;
    int frames = 0;
    for (; frames == 0 || ms < 1000 * seconds; ++frames) {
      const Stopwatch watch(ms);
      detect(frame);
    }
    return 1000 * frames / ms;
  }

  // The boxes of the windows that passed all stages, before grouping, sorted.
  virtual std::vector<Rect> windows(View<const std::uint8_t> gray) = 0;

  // The times of the steps of one more detect(), from the grey image loaded last; all zero if the
  // detector does not measure them.
  virtual StepTimes times() { return {}; }
};

}  // namespace facesat
