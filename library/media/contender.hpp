// A detector that is measured beside others.
#pragma once

#include <string>
#include <vector>

#include "core/backend.hpp"
#include "core/stopwatch.hpp"

namespace facesat {

class Contender {
 public:
  virtual ~Contender() = default;

  virtual std::string name() const = 0;  // "facesat-cpu", "facesat-cuda", "opencv-cpu"
  virtual std::string sat() const { return ""; }

  // Does the number of threads matter to it?
  virtual bool has_threads() const { return true; }
  // From now on it uses this many.
  virtual void use_threads(int threads) = 0;

  // Takes the grey image over, to where it works on it, and returns when it is there. It must live
  // on until the next call.
  virtual void load(View<const std::uint8_t> gray) = 0;
  // Detects once, from the grey image that is loaded to faces; returns how many.
  virtual std::size_t detect() = 0;
  // The same from the colour frame: conversion, and upload where there is one.
  virtual std::size_t detect(View<const Bgr> frame) = 0;

  // Frames a second from the colour frame, with as many of them in flight as it can make use of.
  virtual double frames_per_second(View<const Bgr> frame, double seconds) {
    double ms = 0;
    int frames = 0;
    for (; frames == 0 || ms < 1000 * seconds; ++frames) {
      const Stopwatch watch(ms);
      detect(frame);
    }
    return 1000 * frames / ms;
  }

  // Boxes of the raw windows, sorted.
  virtual std::vector<Rect> windows(View<const std::uint8_t> gray) = 0;

  // Of the last detect(); all zero if the detector does not tell.
  virtual StepTimes times() const { return {}; }
};

}  // namespace facesat
