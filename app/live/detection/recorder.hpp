// Writes frames with their boxes to a video.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/image.hpp"
#include "results/results.hpp"

namespace facesat::app {

class Recorder {
 public:
  Recorder();
  ~Recorder();

  // Finishes the current video. Frames added from now on go into `file`, which VideoFile must know;
  // "": nowhere. Frames per second: 0 for that of the first frame.
  void set(const std::string& file, double frames_per_second = 0);

  struct Timing {
    double frames_per_second = 0;  // of the source; 0: unknown
    // When the frame was taken, on the clock of its source; nullopt: as if none was missing.
    std::optional<double> seconds;
  };
  // Frames whose size differs from the first are left out, with a remark. Does not throw: an error
  // ends the recording and becomes failure().
  //
  // The video plays at the speed of its source even if detection skips frames: the one before takes
  // their place, for at most a second. A clock that goes back belongs to another position or
  // source.
  void add(View<const Bgr> frame, const std::vector<Face>& faces, const Timing& timing);

  // A warning about the last video, which may be complete nevertheless.
  std::string remark() const;
  // Why the last video is missing or incomplete; empty: no problem is known.
  std::string failure() const;

 private:
  struct Video;

  void begin(Size size, double frames_per_second);  // creates the video
  // Repeats the last frame in place of those that are missing since then.
  void fill_gap(const Timing& timing);
  void finish();  // throws OutputError if the video is incomplete
  // Ends the recording; the reason becomes failure().
  void fail(const std::string& reason);

  std::mutex mutex_;
  std::string file_;
  double frames_per_second_ = 0;
  std::unique_ptr<Video> video_;  // from the first frame on

  // Guards remark_ and failure_, so that reading them does not wait for a frame to be written.
  mutable std::mutex messages_mutex_;
  std::string remark_, failure_;
};

}  // namespace facesat::app
