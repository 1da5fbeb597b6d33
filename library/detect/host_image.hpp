// Images of all formats as those that backends take from host memory.
#pragma once

#include <variant>

#include "core/image.hpp"
#include "facesat.hpp"

namespace facesat {

// Throws ArgumentError unless the view can be that of an image: a sentence says why.
void check(const ImageView& image);

// An image in host memory, as a view of its pixels. Where they cannot be viewed in place, they are
// copied: from a device; and to BGR, where there is a fourth byte, or where a row does not begin a
// whole number of pixels after the one before.
class HostImage {
 public:
  // `image` must have passed check(). Throws MemoryError, DeviceError.
  explicit HostImage(const ImageView& image);

  using Pixels = std::variant<View<const std::uint8_t>, View<const Bgr>, View<const Rgb>>;
  const Pixels& pixels() const { return pixels_; }

 private:
  void view(const ImageView& image);
  void pack(const ImageView& image);

  Pixels pixels_;
  Image<std::uint8_t> bytes_;  // of an image that was on a device
  Image<Bgr> packed_;
};

}  // namespace facesat
