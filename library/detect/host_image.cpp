#include "library/detect/host_image.hpp"

#include <cstdlib>

#include <fmt/format.h>

#include "kernels/cuda_backend.hpp"

namespace facesat {

void check(const ImageView& image) {
  const auto& [width, height] = image.size;
  if (width < 0 || height < 0)
    throw ArgumentError(fmt::format("an image cannot have {} x {} pixels", width, height));
  if (width == 0 || height == 0) return;
  if (!image.pixels)
    throw ArgumentError(
        fmt::format("the image of {} x {} pixels has none: its pointer is null", width, height));
  if (image.on_device && image.pitch < 0)
    throw ArgumentError("an image on a device cannot have rows that go upwards");
  const std::ptrdiff_t row = static_cast<std::ptrdiff_t>(width) * bytes_per_pixel(image.format);
  if (height > 1 && std::abs(image.pitch) < row)
    throw ArgumentError(
        fmt::format("the image has rows of {} bytes, but a pitch of {}", row, image.pitch));
}

HostImage::HostImage(const ImageView& image) {
  if (!image.on_device) {
    view(image);
    return;
  }
  const int row = image.size.width * bytes_per_pixel(image.format);
  bytes_.resize({row, image.size.height});
  gpu::download(image, bytes_.view());
  view({bytes_.view().data, image.size, bytes_.view().pitch, image.format, false, nullptr});
}

void HostImage::view(const ImageView& image) {
  const auto in_place = [&]<class Pixel>(const Pixel* pixels) {
    constexpr std::ptrdiff_t bytes = sizeof(Pixel);
    pixels_ = View<const Pixel>{pixels, image.size, image.pitch / bytes};
  };
  if (image.format == PixelFormat::bgra || image.pitch % bytes_per_pixel(image.format) != 0)
    pack(image);
  else if (image.format == PixelFormat::gray)
    in_place(static_cast<const std::uint8_t*>(image.pixels));
  else if (image.format == PixelFormat::bgr)
    in_place(static_cast<const Bgr*>(image.pixels));
  else
    in_place(static_cast<const Rgb*>(image.pixels));
}

void HostImage::pack(const ImageView& image) {
  packed_.resize(image.size);
  const int step = bytes_per_pixel(image.format);
  const int blue = image.format == PixelFormat::rgb ? 2 : 0;
  for (int y = 0; y < image.size.height; ++y) {
    const auto* from = static_cast<const std::uint8_t*>(image.pixels) + y * image.pitch;
    Bgr* const to = packed_.row(y);
    for (int x = 0; x < image.size.width; ++x, from += step)
      to[x] = {from[blue], from[1], from[2 - blue]};
  }
  pixels_ = View<const Bgr>(packed_.view());
}

}  // namespace facesat
