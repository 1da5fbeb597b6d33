// Follows an object that the user has marked from frame to frame, by its histogram
// (filters/box_search.hpp), on the machine where faces are detected.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "app/live/frames/capture.hpp"
#include "filters/box_search.hpp"

namespace facesat::app {

// What is in a box of a frame.
struct MarkedObject {
  Rect box;
  Histogram histogram{};
  Size frame;                                          // its size
  std::uint64_t posted = 0, sequence = 0, source = 0;  // of the frame
};
// The box must lie within the frame.
MarkedObject mark(const CapturedFrame& frame, const Rect& box);

// Where the object is in the frame of a result.
struct Track {
  Rect box;
  Histogram object{}, match{};  // of the object, and of the box
  double ms = 0;                // to find it; 0: the object was marked in this frame

  double percent() const;  // of the pixels of both: those that they have in common
};

// How far from one frame to the next an object is searched for, in pixels.
int reach_in(Size frame);

// Belongs to one thread at a time.
class Tracker {
 public:
  // From the next frame on; nullopt: nothing is followed.
  void follow(std::optional<MarkedObject> object);
  // Where the object is now; nullopt: none is followed. A frame that comes again has the same
  // result. device: the number of the device; nullopt: the CPU. Throws as BoxSearch::find().
  std::optional<Track> find(const CapturedFrame& frame, std::optional<int> device);
  // A sentence, if the frames do not show the object any more; else empty.
  const std::string& why_ended() const { return why_ended_; }

 private:
  std::string why_not_in(const CapturedFrame& frame) const;

  std::optional<MarkedObject> object_;
  Track track_;               // the last one
  std::uint64_t posted_ = 0;  // of its frame
  std::string why_ended_;
  std::unique_ptr<BoxSearch> search_;
  std::optional<int> device_;  // of search_
  Image<std::uint8_t> gray_;
};

}  // namespace facesat::app
