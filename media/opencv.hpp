// The parts of OpenCV that the program uses: picture formats, videos, cameras, and the detector for
// comparison. They are in a library of their own (opencv_module/), which is loaded when it is first
// needed: OpenCV depends on some 250 libraries, and loading those takes several times as long as
// finding the faces in a picture.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "core/pyramid.hpp"
#include "media/codec.hpp"

namespace facesat {

class Contender;

// An open video, stream or camera.
class VideoInput {
 public:
  // The properties of cv::VideoCapture (CAP_PROP_...), with its numbers and in its units.
  enum Property {
    pos_msec = 0,
    pos_frames = 1,
    frame_width = 3,
    frame_height = 4,
    fps = 5,
    fourcc = 6,
    frame_count = 7,
    convert_rgb = 16,
    buffersize = 38
  };

  virtual ~VideoInput() = default;
  // Goes on to the next frame; false at the end. A damaged video ends where it cannot be decoded
  // any further.
  virtual bool grab() = 0;
  // That frame in 8-bit colour; nullopt if it cannot be decoded. The frame is written into what
  // `make` returns for the size that the video says it has, if that is its size.
  using MakeFrame = NewFrame<Bgr> (*)(Size);
  virtual std::optional<Picture> retrieve(MakeFrame make) = 0;
  // Both.
  std::optional<Picture> next(MakeFrame make) { return grab() ? retrieve(make) : std::nullopt; }
  // That frame as the camera gives it, if convert_rgb is 0: valid until the next one. Empty: it
  // cannot be had.
  virtual std::span<const unsigned char> retrieve_encoded() = 0;
  virtual double get(Property property) const = 0;
  virtual void set(Property property, double value) = 0;
};

// A video that is being written. The destructor finishes it.
class VideoWriter {
 public:
  virtual ~VideoWriter() = default;
  virtual void add(View<const Bgr> frame) = 0;
};

// The functions of that library.
struct OpenCv {
  std::string (*version)();

  // Reads a picture in colour as cv::imread does, or the first frame of a GIF. Throws InputError.
  Picture (*read_picture)(const std::filesystem::path& file);

  // Opens a video by its absolute path, or a stream by its URL; a relative path with a colon would
  // be taken for a URL. Null if it cannot be opened.
  std::unique_ptr<VideoInput> (*open_video)(const std::string& name);
  // Opens a Video4Linux camera ("/dev/video0"). Null if it cannot be opened.
  std::unique_ptr<VideoInput> (*open_camera)(const std::string& device);

  // Creates a video. `codec`: its four letters ("MJPG"). Null if the video cannot be written.
  std::unique_ptr<VideoWriter> (*write_video)(const std::string& file, const std::string& codec,
                                              double frames_per_second, Size size);

  // OpenCV's CPU detector; null if this build has none, or if OpenCV cannot read the cascade.
  std::unique_ptr<Contender> (*make_contender)(const std::string& cascade_file,
                                               const DetectOptions& options);
};

// Was this build made with OpenCV?
bool has_opencv();

// Loads the library on the first call. Throws InputError if this build has none, if it is missing,
// or if there is too little memory for it.
const OpenCv& opencv();

}  // namespace facesat
