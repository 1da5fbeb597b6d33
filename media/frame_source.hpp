// The interface of everything that gives frames: cameras, streams, videos, animations and pictures.
// Builds without OpenCV read pictures alone.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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
  double decode_ms = 0;  // the time to decode it, if the source gives JPEGs; else 0
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
  // camera, stream: have no end and no position, and frames may be dropped. video: ends, has
  // length() and seek(), and every frame counts. picture: one frame.
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

// ---- videos

// Throws InputError, also if frames have more than `max_pixels` pixels. Messages do not contain the
// file name.
std::unique_ptr<FrameSource> open_video(const std::filesystem::path& file, std::size_t max_pixels);

// Is this a GIF with several frames, which open_video() can open, too? Throws InputError if the
// file cannot be read. Builds without OpenCV see none.
bool is_animation(const std::filesystem::path& file);

// File name extensions of videos, in lower case with the dot; empty if this build cannot read
// videos.
const std::vector<std::string_view>& video_extensions();

// Has the name the extension of a picture or video?
bool has_media_extension(const std::filesystem::path& file);

// ---- cameras of this machine (Video4Linux)

struct CameraInfo {
  int number = 0;       // N in /dev/videoN
  std::string name;     // as reported by the driver
  std::string problem;  // why it cannot be used; else empty
};

// Every /dev/video* that is a camera: drivers also create devices for metadata there, which never
// give pictures.
std::vector<CameraInfo> cameras();

// ---- cameras and streams for work that may take longer than the next frame: who asks gets the
// newest one, and frames that nobody asked for are dropped

// Opens a camera or stream (see is_live_name()), and reads it in a thread of its own. Its next()
// waits for a frame that it has not given yet. A stream that is a video ("https://.../a.mp4") is
// read frame by frame, without dropping any. When the program is interrupted, this function returns
// null, and next() nullopt, even if the source does not answer. Throws InputError, as next() does
// when the source breaks or frames have more than `max_pixels` pixels.
std::unique_ptr<FrameSource> open_live(const std::string& name, const FrameChoice& choice,
                                       std::size_t max_pixels);

// Does a thread still wait for a source that does not answer? A program that ends meanwhile must
// not do so through exit().
bool is_live_source_open();

}  // namespace facesat
