// Where live frames come from: cameras, streams, videos, pictures. Used by one thread.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "library/media/codec.hpp"

namespace facesat {

struct LiveFrame {
  Picture picture;
  double position = 0;  // seconds of a video, number of a picture
  std::string name;     // of a picture; else empty
  std::chrono::steady_clock::time_point captured;
};

class Source {
 public:
  enum class Kind { camera, stream, video, pictures };

  virtual ~Source() = default;
  virtual Kind kind() const = 0;
  virtual std::string title() const = 0;

  // The next frame; nothing at the end. A camera's is the newest, and may take a frame's time to
  // come. Throws InputError if it cannot be read, and can go on after it.
  virtual std::optional<LiveFrame> next() = 0;

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

// A camera ("0", "/dev/video0"; "": the first), a stream ("rtsp://..."), a video, a picture, or a
// folder of pictures. `mode` is for cameras. Throws InputError.
std::unique_ptr<Source> open_source(const std::string& name, const CameraMode& mode = {});

// The file or folder that open_source() reads for this name; nothing if it is a camera or a stream.
std::optional<std::filesystem::path> source_path(const std::string& name);

}  // namespace facesat
