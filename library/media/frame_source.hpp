// The one interface of everything that gives frames: cameras, streams, videos, animations, pictures
// and folders of them.
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
  double position = 0;  // where seek() finds it: seconds of a video, number of a picture
  double time = 0;      // of a video: seconds from its start, growing from frame to frame
  std::string name;     // of a picture; else empty
  std::chrono::steady_clock::time_point captured;
};

// Used by one thread at a time.
class FrameSource {
 public:
  enum class Kind { camera, stream, video, pictures };

  virtual ~FrameSource() = default;
  virtual Kind kind() const = 0;
  virtual std::string title() const = 0;

  // The next frame; nothing at the end. A camera's is the newest, and may take a frame's time to
  // come. Throws InputError if it cannot be read, and can go on after it.
  virtual std::optional<Frame> next() = 0;
  // Once there are no more frames: a sentence if there should be more; else empty.
  virtual std::string warning() const { return ""; }

  // Videos: seconds; pictures: how many. 0: unknown, or without end.
  virtual double length() const { return 0; }
  // From one frame to the next, as in length().
  virtual double step() const { return 1; }
  // The next frame is to be that of this position.
  virtual void seek(double) {}
};

// What a camera is asked for; it gives what comes nearest. 0: as it likes.
struct CameraMode {
  Size size;
  double frames_per_second = 0;
};

// A camera ("0", "/dev/video0"; "": the first), a stream ("rtsp://..."), a folder of pictures, an
// animation, a picture, or a video: the first of these that takes the name. `mode` is for cameras.
// Throws InputError.
std::unique_ptr<FrameSource> open_source(const std::string& name, const CameraMode& mode = {});

// The file or folder that open_source() reads for this name; nothing if it is a camera or a stream.
std::optional<std::filesystem::path> source_path(const std::string& name);

}  // namespace facesat
