// Images of all formats as the two that backends take from host memory.
#pragma once

#include "core/image.hpp"
#include "facesat.hpp"

namespace facesat {

// Throws ArgumentError unless the view can be that of an image: a sentence says why.
void check(const ImageView& image);

// An image in host memory, as a grey or a colour view of it. Where the pixels cannot be viewed in
// place, they are copied: from a device, without the fourth byte, or where a row does not begin a
// whole number of pixels after the one before.
class HostImage {
 public:
  // `image` must have passed check(). Throws MemoryError, DeviceError.
  explicit HostImage(const ImageView& image);

  bool is_gray() const { return is_gray_; }
  View<const std::uint8_t> gray() const { return gray_; }  // if is_gray()
  View<const Bgr> colour() const { return colour_; }       // otherwise

 private:
  void view(const ImageView& image);
  void pack(const ImageView& image);

  bool is_gray_;
  View<const std::uint8_t> gray_;
  View<const Bgr> colour_;
  Image<std::uint8_t> bytes_;  // of an image that was on a device
  Image<Bgr> packed_;
};

}  // namespace facesat
