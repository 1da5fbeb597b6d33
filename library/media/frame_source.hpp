// The interface of everything that gives frames: cameras, streams, videos, animations and pictures.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "library/media/codec.hpp"

namespace facesat {

struct Frame {
  Picture picture;
  double position = 0;  // the argument of seek(): seconds in a video
  double time = 0;      // seconds from the start of a video, increasing from frame to frame
  std::string name;     // of a picture file; else empty
  std::chrono::steady_clock::time_point captured;  // when it was read
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

// Opens a camera ("0", "/dev/video0"; "": the first), a stream ("rtsp://..."), an animation, a
// picture, or a video: the first of these kinds that accepts the name.
// `mode` is for cameras. Throws InputError.
std::unique_ptr<FrameSource> open_source(const std::string& name, const CameraMode& mode = {});

// The file or folder of this name; nullopt for a camera or a stream.
std::optional<std::filesystem::path> source_path(const std::string& name);

}  // namespace facesat
