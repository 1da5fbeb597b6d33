// Pictures that detectors and other problems are measured on, cropped from the top left corner to
// each size, and those that problems write.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/image.hpp"
#include "core/pyramid.hpp"
#include "media/codec.hpp"

namespace facesat::lab {

struct Scene {
  Size size;
  NewFrame<Bgr> frame;       // in memory as decoders get it
  Image<std::uint8_t> gray;  // the frame in grey
};
// Crops the picture to this size.
Scene make_scene(const Picture& picture, Size size);

// Reads the picture. Throws UsageError, with the name of the file.
Picture read_scene_picture(const std::string& file);

// Parses texts such as "1920x1080"; the whole picture if there are none. Throws UsageError for text
// that is not a size, and for sizes larger than the picture.
std::vector<Size> scene_sizes(const std::vector<std::string>& texts, Size picture);

// --image and --output of a problem whose result is a picture; empty: not given.
struct PictureFiles {
  std::string image, output;

  // `what` is written, for example "a halftone". Throws UsageError unless the output, if there is
  // one, can be written, or replaces a picture that facesat wrote.
  void require_writable(const std::string& what) const;
};
void write_gray(const std::string& file, const Image<std::uint8_t>& picture);

// Throws UsageError for a size too small for any window of this cascade: its time would be
// meaningless.
void require_windows(const std::string& cascade, Size size, const DetectOptions& options);

}  // namespace facesat::lab
