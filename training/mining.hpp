// Finds negatives: windows of pictures without objects that a cascade takes for objects.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "boosting/samples.hpp"
#include "core/cascade.hpp"
#include "core/stop.hpp"
#include "training/negative_pictures.hpp"
#include "training/picture_search.hpp"

namespace facesat::training {

struct MiningOptions {
  bool mirrored = true;       // after all pictures, their mirror images are searched
  double scale_factor = 1.1;  // between levels
  // Most windows of a picture, and of its mirror image, per call. 0: as many as are needed, spread
  // over all pictures as evenly as possible.
  int per_picture = 0;
  std::uint64_t seed = 1;  // decides which windows of a picture are taken
  // Positions that pass are remembered from call to call (see picture_search.hpp) while they take
  // no more memory than this.
  std::uint64_t remembered_bytes = std::uint64_t{256} << 20;
};

// How far a search has come. Mirror images count as pictures of their own.
struct MiningProgress {
  std::size_t found = 0, wanted = 0;  // found < wanted at the end: the pool is exhausted
  // In the first round: windows of the pictures that the detector has searched, or need not search
  // again because a part of the same cascade has rejected them. (Where many pass, they are
  // estimated from a few of the picture.) `accepted` of them passed: taken or not, but none at an
  // object.
  std::uint64_t windows = 0, accepted = 0;
  std::size_t pictures = 0, all_pictures = 0;  // searched in this round; in a round
  int round = 1;                               // how often the call has begun with all pictures

  bool operator==(const MiningProgress&) const = default;
};

// What a mine has given, so that training can go on where it was interrupted.
struct MineState {
  std::size_t next_picture = 0;
  std::vector<std::uint64_t> taken;  // windows that have been given, as keys, sorted
  std::uint64_t pool = 0;            // checksum of the names of the pictures
};

// Where a sample comes from.
struct Origin {
  std::size_t picture = 0;  // index into NegativePictures
  bool mirrored = false;
  Rect box;  // in the picture as it is in its file, also if it was found in its mirror image
  double score = 0;  // sum of the cascade's last stage: the higher, the more like an object

  bool operator==(const Origin&) const = default;
};

class Mine {
 public:
  virtual ~Mine() = default;

  // Appends windows, as the detector sees them (cut out of their level), until there are `wanted`
  // new ones, or all pictures have been searched without any (the pool is exhausted: fewer are
  // appended). The search goes on with the picture after the one that gave the last window. From
  // each it takes a few windows, first those of the lowest rank in an order that is chosen by the
  // seed, at most one of those that show nearly the same; if that gives too few, it begins a
  // further round, in which it takes these, and more of each picture. No window is given twice by
  // one mine. `cascade` without stages accepts every window that is not of low variance. The same
  // calls give the same samples, whatever the number of threads. Calls need the same window; they
  // are fast if each cascade begins with the one before.
  //
  // `report` is called by the calling thread at the beginning, about ten times per second, and at
  // the end. Throws Stopped, what `report` throws, and ArgumentError if no picture can be used; the
  // mine then is as before the call.
  virtual MiningProgress find(const Cascade& cascade, std::size_t wanted, Samples& samples,
                              const std::function<void(const MiningProgress&)>& report,
                              const ShouldStop& should_stop) = 0;

  // Of the samples that the last call of find() has appended, in their order.
  virtual const std::vector<Origin>& origins() const = 0;

  virtual MineState state() const = 0;
  // Throws ArgumentError for the state of a mine with other pictures.
  virtual void restore(const MineState& state) = 0;

  // Sentences about pictures that could not be read, are damaged or too small: the first few, and
  // how many more there are.
  virtual std::vector<std::string> warnings() const = 0;
};

// Throws ArgumentError for options outside their range. May be given the backend of another device;
// each thread makes one.
std::unique_ptr<Mine> open_mine(std::shared_ptr<NegativePictures> negatives,
                                const MiningOptions& options,
                                MakeBackend make_backend = make_cpu_backend);

}  // namespace facesat::training
