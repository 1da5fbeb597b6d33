// The picture that detectors are measured on, cropped at its top left corner to each size.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/image.hpp"
#include "core/pyramid.hpp"
#include "library/media/codec.hpp"

namespace facesat::app {

struct Scene {
  Size size;
  View<const Bgr> frame;  // of the picture, which must outlive the scene
  Image<std::uint8_t> gray;
};
Scene make_scene(const Picture& picture, Size size);

// Throws UsageError with the file's name.
Picture read_scene_picture(const std::string& file);

// From texts such as "1920x1080"; the whole picture if there are none. Throws UsageError for what
// is not a size, and for sizes larger than the picture.
std::vector<Size> scene_sizes(const std::vector<std::string>& texts, Size picture);

// Throws UsageError for a size that has no window of this cascade, which would be measured as doing
// nothing in no time.
void require_windows(const std::string& cascade, Size size, const DetectOptions& options);

}  // namespace facesat::app
