#include "app/common/device_jpegs.hpp"

#include <atomic>
#include <mutex>
#include <utility>
#include <variant>
#include <vector>

#include "core/orientation.hpp"
#include "kernels/cuda_backend.hpp"
#include "kernels/jpeg/jpeg_decoder.hpp"
#include "media/codec_formats.hpp"

namespace facesat::app {
namespace {

template <class Pixel>
Picture download_as(const ImageView& decoded) {
  const NewFrame<Pixel> frame = new_frame<Pixel>(decoded.size);
  constexpr int bytes = sizeof(Pixel);
  gpu::download(decoded, {reinterpret_cast<std::uint8_t*>(frame.pixels.data),
                          {decoded.size.width * bytes, decoded.size.height},
                          frame.pixels.pitch * bytes});
  return to_picture(frame);
}

}  // namespace

// A decoder for each thread that decodes.
class JpegsOnDevice::Decoders {
 public:
  explicit Decoders(int device) : device_(device) {}
  int decoded() const { return decoded_; }

  // nullopt: libjpeg-turbo must do it.
  std::optional<Picture> decode(std::span<const unsigned char> file, const DecodeLimits& limits,
                                Reading reading) {
    try {
      const std::optional<DeviceJpeg> jpeg = read_device_jpeg(file, limits.max_pixels);
      if (!jpeg) return std::nullopt;
      const gpu::KeptDevice kept;
      std::unique_ptr<gpu::JpegDecoder> decoder = take();
      Picture picture = downloaded(
          decoder->decode(jpeg->stream, reading == Reading::luma, jpeg->orientation), *jpeg);
      if (decoder->has_failed()) return std::nullopt;
      ++decoded_;
      // Memory for a very large picture is not kept.
      constexpr std::size_t most_kept_pixels = 64 << 20;
      if (picture.size().area() <= most_kept_pixels) {
        const std::scoped_lock lock(mutex_);
        idle_.push_back(std::move(decoder));
      }
      return picture;
    } catch (const MemoryError&) {
      return std::nullopt;
    } catch (const DeviceError&) {  // the detector will notice it, too
      return std::nullopt;
    }
  }

 private:
  std::unique_ptr<gpu::JpegDecoder> take() {
    {
      const std::scoped_lock lock(mutex_);
      if (!idle_.empty()) {
        std::unique_ptr<gpu::JpegDecoder> decoder = std::move(idle_.back());
        idle_.pop_back();
        return decoder;
      }
    }
    return gpu::make_jpeg_decoder(device_);
  }

  const int device_;
  std::atomic<int> decoded_ = 0;
  std::mutex mutex_;
  std::vector<std::unique_ptr<gpu::JpegDecoder>> idle_;
};

std::optional<DeviceJpeg> read_device_jpeg(std::span<const unsigned char> file,
                                           std::size_t max_pixels) {
  auto read = gpu::read_jpeg_stream(file, max_pixels);
  auto* const stream = std::get_if<gpu::JpegStream>(&read);
  if (!stream) return std::nullopt;
  const int orientation = jpeg_orientation(stream->metadata);
  stream->metadata = {};  // is a part of the file
  const Size size = upright_size(stream->header.size, orientation);
  const char* const warning = has_more_pictures(file, stream->end) ? only_first_picture : "";
  return DeviceJpeg{std::move(*stream), orientation, size, warning};
}

Picture downloaded(const ImageView& decoded, const DeviceJpeg& jpeg) {
  Picture picture = decoded.format == PixelFormat::gray ? download_as<std::uint8_t>(decoded)
                                                        : download_as<Bgr>(decoded);
  picture.warning = jpeg.warning;
  picture.orientation = jpeg.orientation;
  return picture;
}

JpegsOnDevice::JpegsOnDevice(int device) : decoders_(std::make_shared<Decoders>(device)) {
  decode_jpegs_with(
      [decoders = decoders_](std::span<const unsigned char> file, const DecodeLimits& limits,
                             Reading reading) { return decoders->decode(file, limits, reading); });
}

int JpegsOnDevice::decoded() const {
  return decoders_->decoded();
}

JpegsOnDevice::~JpegsOnDevice() {
  decode_jpegs_with(nullptr);
}

}  // namespace facesat::app
