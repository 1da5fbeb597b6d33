#include <algorithm>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>

#include <fmt/format.h>
#include <tiffio.h>

#include "media/codec_formats.hpp"
#include "media/exif.hpp"

namespace facesat {
namespace {

[[noreturn]] void fail(std::string_view reason) {
  throw InputError("decode", fmt::format("this TIFF cannot be decoded: {}",
                                         reason.empty() ? "it is damaged" : reason));
}

// The bytes of a file for libtiff, and what it reports about them.
struct Source {
  std::span<const unsigned char> file;
  std::size_t at = 0;
  char error[256]{};  // libtiff's last message, cut off if it is longer
};

Source& of(thandle_t handle) {
  return *static_cast<Source*>(handle);
}

tmsize_t read(thandle_t handle, void* to, tmsize_t count) {
  Source& source = of(handle);
  const std::size_t size =
      std::min(static_cast<std::size_t>(count), source.file.size() - source.at);
  std::memcpy(to, source.file.data() + source.at, size);
  source.at += size;
  return static_cast<tmsize_t>(size);
}

tmsize_t write(thandle_t, void*, tmsize_t) {
  return 0;
}

// Positions outside the file become its end, where reading fails.
toff_t seek(thandle_t handle, toff_t offset, int whence) {
  Source& source = of(handle);
  const toff_t size = source.file.size();
  const toff_t base = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? source.at : size;
  source.at = std::min(base + offset, size);
  return source.at;
}

int close(thandle_t) {
  return 0;
}

toff_t size_of(thandle_t handle) {
  return of(handle).file.size();
}

// libtiff reads the mapped bytes and does not write to them.
int map(thandle_t handle, void** base, toff_t* size) {
  *base = const_cast<unsigned char*>(of(handle).file.data());
  *size = of(handle).file.size();
  return 1;
}

void unmap(thandle_t, void*, toff_t) {}

// Handlers return 1 so that libtiff does not print the message.
int keep_error(TIFF*, void* source, const char*, const char* format, va_list arguments) {
  Source& to = of(source);
  std::vsnprintf(to.error, sizeof to.error, format, arguments);
  return 1;
}

int ignore_warning(TIFF*, void*, const char*, const char*, va_list) {
  return 1;
}

using Tiff = std::unique_ptr<TIFF, void (*)(TIFF*)>;

// No single piece of memory may take more than a picture of the largest permitted size.
Tiff open(Source& source, const DecodeLimits& limits) {
  constexpr std::size_t at_least = 1 << 24, bytes_per_pixel = 8;
  const std::unique_ptr<TIFFOpenOptions, void (*)(TIFFOpenOptions*)> options(TIFFOpenOptionsAlloc(),
                                                                             TIFFOpenOptionsFree);
  if (!options) throw MemoryError("libtiff", 0);
  TIFFOpenOptionsSetMaxSingleMemAlloc(
      options.get(),
      static_cast<tmsize_t>(std::max(at_least, bytes_per_pixel * limits.max_pixels)));
  TIFFOpenOptionsSetErrorHandlerExtR(options.get(), keep_error, &source);
  TIFFOpenOptionsSetWarningHandlerExtR(options.get(), ignore_warning, &source);
  Tiff tiff(TIFFClientOpenExt("picture", "r", &source, read, write, seek, close, size_of, map,
                              unmap, options.get()),
            TIFFClose);
  if (!tiff) fail(source.error);
  return tiff;
}

std::uint32_t number(TIFF* tiff, std::uint32_t tag) {
  std::uint32_t value = 0;
  return TIFFGetField(tiff, tag, &value) ? value : 0;
}

// Of a tile, or of a strip: the parts that libtiff decodes at a time.
Size size_of_part(TIFF* tiff, Size size) {
  const bool is_tiled = TIFFIsTiled(tiff) != 0;
  std::uint32_t width = is_tiled ? number(tiff, TIFFTAG_TILEWIDTH) : 0;
  std::uint32_t height = number(tiff, is_tiled ? TIFFTAG_TILELENGTH : TIFFTAG_ROWSPERSTRIP);
  constexpr std::uint32_t most = 1 << 24;
  if (!is_tiled) {
    width = static_cast<std::uint32_t>(size.width);
    height = std::min(height == 0 ? UINT32_MAX : height, static_cast<std::uint32_t>(size.height));
  }
  if (width == 0 || height == 0 || width > most || height > most) fail("its tiles have no size");
  return {static_cast<int>(width), static_cast<int>(height)};
}

// Decodes part by part, as OpenCV does: each has its last row first, and is turned by itself if the
// orientation demands that.
void read_pixels(TIFF* tiff, View<Bgr> pixels, int orientation, const DecodeLimits& limits) {
  const bool is_tiled = TIFFIsTiled(tiff) != 0;
  const bool from_below = orientation == ORIENTATION_BOTRIGHT ||
                          orientation == ORIENTATION_BOTLEFT ||
                          orientation == ORIENTATION_RIGHTBOT || orientation == ORIENTATION_LEFTBOT;
  const auto [width, height] = pixels.size;
  const Size part = size_of_part(tiff, pixels.size);
  check_size(part, limits);
  const std::size_t bytes = part.area() * sizeof(std::uint32_t);
  const std::shared_ptr<void> memory = frame_memory(bytes);
  auto* const raster = static_cast<std::uint32_t*>(memory.get());
  std::memset(raster, 0, bytes);
  for (int y = 0; y < height; y += part.height)
    for (int x = 0; x < width; x += part.width) {
      check_stop(limits.should_stop);
      const auto left = static_cast<std::uint32_t>(x), top = static_cast<std::uint32_t>(y);
      if (!(is_tiled ? TIFFReadRGBATile(tiff, left, top, raster)
                     : TIFFReadRGBAStrip(tiff, top, raster)))
        fail(of(TIFFClientdata(tiff)).error);
      const int w = std::min(part.width, width - x), h = std::min(part.height, height - y);
      const int first = is_tiled ? part.height - h : 0;
      for (int i = 0; i < h; ++i) {
        const std::uint32_t* const from = raster + static_cast<std::size_t>(first + i) * part.width;
        Bgr* const to = pixels.row((from_below ? height - y - h : y) + h - 1 - i) + x;
        std::transform(from, from + w, to, [](std::uint32_t pixel) {
          return Bgr{static_cast<std::uint8_t>(TIFFGetB(pixel)),
                     static_cast<std::uint8_t>(TIFFGetG(pixel)),
                     static_cast<std::uint8_t>(TIFFGetR(pixel))};
        });
      }
    }
}

// What libtiff leaves to do for an orientation, as an orientation.
int rest_of_turn(int orientation) {
  switch (orientation) {
    case ORIENTATION_LEFTTOP:
    case ORIENTATION_RIGHTBOT:
      return ORIENTATION_LEFTTOP;
    case ORIENTATION_RIGHTTOP:
    case ORIENTATION_LEFTBOT:
      return ORIENTATION_RIGHTBOT;
    default:
      return ORIENTATION_TOPLEFT;
  }
}

// Does a page follow that is neither a smaller version of the first one nor a mask?
bool has_more_pages(TIFF* tiff) {
  return TIFFReadDirectory(tiff) &&
         (number(tiff, TIFFTAG_SUBFILETYPE) & (FILETYPE_REDUCEDIMAGE | FILETYPE_MASK)) == 0;
}

}  // namespace

Picture read_tiff(std::span<const unsigned char> file, const DecodeLimits& limits) {
  Source source{file};
  const Tiff tiff = open(source, limits);
  const std::uint32_t width = number(tiff.get(), TIFFTAG_IMAGEWIDTH),
                      height = number(tiff.get(), TIFFTAG_IMAGELENGTH);
  if (width == 0 || height == 0 || width > INT32_MAX || height > INT32_MAX)
    fail("its width or height is not allowed");
  const Size size{static_cast<int>(width), static_cast<int>(height)};
  check_size(size, limits);
  char reason[1024] = "";
  if (!TIFFRGBAImageOK(tiff.get(), reason)) fail(reason);
  std::uint16_t orientation = ORIENTATION_TOPLEFT;
  const bool is_known = TIFFGetField(tiff.get(), TIFFTAG_ORIENTATION, &orientation) != 0;
  const NewFrame<Bgr> frame = new_frame<Bgr>(size);
  read_pixels(tiff.get(), frame.pixels, orientation, limits);
  Picture picture = upright(to_picture(frame), rest_of_turn(orientation));
  picture.orientation = is_known ? orientation : 0;
  if (source.error[0] != 0)
    picture.warning = fmt::format("the file is damaged ({})", source.error);
  else if (has_more_pages(tiff.get()))
    picture.warning = only_first_picture;
  return picture;
}

}  // namespace facesat
