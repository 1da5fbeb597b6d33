// Finds negatives: windows of pictures without objects that a cascade takes for objects.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "train/annotations.hpp"
#include "train/samples.hpp"

#include "core/cascade.hpp"
#include "core/stop.hpp"

namespace facesat::train {

struct MiningOptions {
  bool mirrored = true;       // pictures are searched mirrored, too
  double scale_factor = 1.1;  // between levels
  int per_picture =
      0;  // most windows of a picture (and of its mirror image) per call; 0: chosen by itself
  std::uint64_t seed = 1;  // decides which windows of a picture are taken
};

// How far a search has come; every count but `pictures` is of one call.
struct MiningProgress {
  std::size_t found = 0, wanted = 0;
  std::uint64_t windows = 0;   // searched
  std::uint64_t accepted = 0;  // of these, by the cascade: taken or not
  std::size_t pictures = 0, all_pictures = 0;
};

// What a mine has given, so that training can go on where it was interrupted.
struct MineState {
  std::size_t next_picture = 0;
  std::vector<std::uint64_t> taken;  // windows that have been given, as keys
};

class Mine {
 public:
  virtual ~Mine() = default;

  // Appends windows, as the detector sees them (cut out of their level), until there are `wanted`
  // new ones or the whole pool has been searched once without new ones (the pool is exhausted:
  // fewer are appended). No window is given twice by one mine. `cascade` without stages accepts
  // every window that is not of low variance. The same calls give the same samples, whatever the
  // number of threads. Throws Stopped; the mine then is as before the call.
  virtual MiningProgress find(const Cascade& cascade, std::size_t wanted, Samples& samples,
                              const std::function<void(const MiningProgress&)>& report,
                              const ShouldStop& should_stop) = 0;

  virtual MineState state() const = 0;
  virtual void restore(MineState state) = 0;
  virtual std::vector<std::string> warnings()
      const = 0;  // pictures that could not be read, too small ones
};

}  // namespace facesat::train
