// The interface of everything that gives frames: cameras, streams, videos, animations and pictures.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "media/codec.hpp"

namespace facesat {

struct Frame {
  Picture picture;
  int number = 0;       // from 0, counting also the frames that were passed over
  double position = 0;  // the argument of seek(): seconds in a video
  double time = 0;      // seconds from the start, increasing from frame to frame: of a video by the
                        // times of its frames, of a camera or stream by the clock
  std::string name;     // of a picture file; else empty
  std::chrono::steady_clock::time_point captured;  // when it was read
};

// Which frames of a video, camera or stream are wanted; by default all.
struct FrameChoice {
  int every = 0;          // the first frame, and then each of that many; 0: not limited
  double per_second = 0;  // as many per second of the video's time; 0: not limited

  bool is_made() const { return every > 0 || per_second > 0; }
};

// To be used by one thread at a time.
class FrameSource {
 public:
  enum class Kind { camera, stream, video, picture };

  virtual ~FrameSource() = default;
  virtual Kind kind() const = 0;
  virtual std::string title() const = 0;

  // The next frame; nullopt at the end. A camera gives its newest frame, and may take a frame
  // interval to do so. Throws InputError if the frame cannot be read; next() may then be called
  // again.
  virtual std::optional<Frame> next() = 0;
  // From now on next() gives only these frames, and passes over the others as cheaply as it can.
  // When the program is interrupted meanwhile, it gives nullopt.
  virtual void choose(const FrameChoice&) {}
  // After the last frame: a sentence if frames are missing; else empty.
  virtual std::string warning() const { return ""; }

  // Seconds of a video. 0: unknown or unlimited.
  virtual double length() const { return 0; }
  // The seconds between two frames; 1 for a picture.
  virtual double step() const { return 1; }
  // Makes next() continue with the frame at this position: see Frame::position.
  virtual void seek(double) {}
};

// The mode requested from a camera, which uses the nearest one that it has. 0: left to the camera.
struct CameraMode {
  Size size;
  double frames_per_second = 0;
};

// Opens a camera ("0", "camera:0", "/dev/video0"; "": the first), a stream ("rtsp://..."), an
// animation, a picture, or a video: the first of these kinds that accepts the name. `mode` is for
// cameras. Throws InputError.
std::unique_ptr<FrameSource> open_source(const std::string& name, const CameraMode& mode = {});

}  // namespace facesat
