#include <memory>

#include <webp/decode.h>
#include <webp/demux.h>

#include "media/codec_formats.hpp"

namespace facesat {
namespace {

[[noreturn]] void fail() {
  throw InputError("decode", "this WebP cannot be decoded: it is damaged, or ends early");
}

// The first frame on the canvas of the animation, over black where that stays visible.
void read_first_frame(std::span<const unsigned char> file, View<Bgr> pixels) {
  WebPAnimDecoderOptions options;
  WebPAnimDecoderOptionsInit(&options);
  options.color_mode = MODE_BGRA;
  const WebPData data{file.data(), file.size()};
  const std::unique_ptr<WebPAnimDecoder, void (*)(WebPAnimDecoder*)> decoder(
      WebPAnimDecoderNew(&data, &options), WebPAnimDecoderDelete);
  std::uint8_t* from = nullptr;
  int milliseconds = 0;
  if (!decoder || !WebPAnimDecoderGetNext(decoder.get(), &from, &milliseconds)) fail();
  for (int y = 0; y < pixels.size.height; ++y)
    for (int x = 0; x < pixels.size.width; ++x, from += 4)
      pixels.row(y)[x] = {from[0], from[1], from[2]};
}

void read_still(std::span<const unsigned char> file, View<Bgr> pixels) {
  const auto pitch = static_cast<std::size_t>(pixels.pitch) * sizeof(Bgr);
  auto* const to = reinterpret_cast<std::uint8_t*>(pixels.data);
  if (!WebPDecodeBGRInto(file.data(), file.size(), to, pitch * pixels.size.height,
                         static_cast<int>(pitch)))
    fail();
}

}  // namespace

Picture read_webp(std::span<const unsigned char> file, const DecodeLimits& limits) {
  WebPBitstreamFeatures features;
  if (WebPGetFeatures(file.data(), file.size(), &features) != VP8_STATUS_OK) fail();
  const Size size{features.width, features.height};
  check_size(size, limits);
  const NewFrame<Bgr> frame = new_frame<Bgr>(size);
  (features.has_animation ? read_first_frame : read_still)(file, frame.pixels);
  Picture picture = to_picture(frame);
  if (features.has_animation) picture.warning = only_first_frame;
  return picture;
}

}  // namespace facesat
