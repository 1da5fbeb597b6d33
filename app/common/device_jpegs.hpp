// JPEGs that are decoded by a device, to the same pixels as by libjpeg-turbo.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "facesat/types.hpp"
#include "kernels/jpeg/jpeg_stream.hpp"
#include "media/codec.hpp"

namespace facesat::app {

// A file as devices decode it, and what its headers say.
struct DeviceJpeg {
  gpu::JpegStream stream;
  int orientation = 0;  // EXIF; 0: unknown
  Size size;            // upright
  std::string warning;  // as Picture's
};

// nullopt: it is none, or of a kind that is left to libjpeg-turbo. Throws MemoryError.
std::optional<DeviceJpeg> read_device_jpeg(std::span<const unsigned char> file,
                                           std::size_t max_pixels);

// The picture that a device has decoded, in memory for frames. Waits for the device. Throws
// MemoryError, DeviceError.
Picture downloaded(const ImageView& decoded, const DeviceJpeg& jpeg);

// As long as it lives, read_jpeg() (media/codec_formats.hpp) decodes on this device, and downloads
// the pictures. Only one may live at a time.
class JpegsOnDevice {
 public:
  explicit JpegsOnDevice(int device);
  ~JpegsOnDevice();
  JpegsOnDevice(const JpegsOnDevice&) = delete;
  JpegsOnDevice& operator=(const JpegsOnDevice&) = delete;

  // How many it has decoded; the others were left to libjpeg-turbo.
  int decoded() const;

 private:
  class Decoders;
  std::shared_ptr<Decoders> decoders_;
};

}  // namespace facesat::app
