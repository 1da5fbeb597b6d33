// Reads and writes picture files. A format that has a reader here (codec_*.cpp) is read by that
// alone, in every build; the others are left to OpenCV, and refused in builds without it.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/frame_memory.hpp"
#include "core/image.hpp"
#include "core/stop.hpp"
#include "media/input_file.hpp"
#include "support/errors.hpp"

namespace facesat {

// Limits on decoding a picture, because small files can need a lot of memory and time.
constexpr std::size_t default_max_pixels = 250'000'000;  // 750 MB of 8-bit colour
struct DecodeLimits {
  std::size_t max_pixels = default_max_pixels;
  ShouldStop should_stop = nullptr;  // called between the rows or tiles of most formats
};

// Throws InputError for a picture with more pixels than the limit.
inline void check_size(Size size, const DecodeLimits& limits) {
  if (size.area() > limits.max_pixels)
    throw InputError("limit", "the picture has " + std::to_string(size.width) + "x" +
                                  std::to_string(size.height) + " pixels, more than the " +
                                  std::to_string(limits.max_pixels) +
                                  " that are decoded; --max-pixels raises the limit");
}

// A decoded picture; `owner` keeps the pixels alive.
struct Picture {
  View<const Bgr> pixels;
  std::shared_ptr<const void> owner;
  std::string warning;                 // a sentence, if the picture is incomplete or damaged
  View<const std::uint8_t> luma = {};  // instead of `pixels`, if it was read as Reading::luma
  int orientation = 0;  // the EXIF orientation, 1 .. 8, by which it was turned upright; 0: unknown

  Size size() const { return luma.data ? luma.size : pixels.size; }
};

// What becomes of a JPEG's colours.
enum class Reading {
  colour,  // as cv::imread with IMREAD_COLOR
  luma,    // as cv::imread with IMREAD_GRAYSCALE: the luma that the file has, so less is decoded
};

// The picture whose pixels have been written into a new frame.
inline Picture to_picture(const NewFrame<Bgr>& frame) {
  return {frame.pixels, frame.owner, {}};
}
inline Picture to_picture(const NewFrame<std::uint8_t>& frame) {
  return {{}, frame.owner, {}, frame.pixels};
}

// A picture as the detector takes it.
ImageView image_view(const Picture& picture);

// The same picture with its luma as blue, green and red; one in colour is returned as it is. Throws
// MemoryError.
Picture in_colour(Picture picture);

// The warnings for an animation, and for other files with several pictures.
constexpr const char* only_first_frame = "this is an animation: only its first frame is looked at";
constexpr const char* only_first_picture =
    "the file has several pictures: only the first one is looked at";

// Sets the limits of the libraries. To be called before other threads start; otherwise the
// libraries have their own limits (OpenCV: 2^30 pixels).
void prepare_codecs(const DecodeLimits& limits);

// Decodes a picture to 8-bit colour as cv::imread does: rotated upright by its EXIF orientation, 16
// bits reduced to 8, alpha dropped. `reading` is for JPEGs; other pictures are always in colour.
// Throws InputError, Stopped.
Picture read_picture(const InputFile& file, const DecodeLimits& limits = {},
                     Reading reading = Reading::colour);
Picture read_picture(const std::filesystem::path& file, const DecodeLimits& limits = {},
                     Reading reading = Reading::colour);

// The pixels of a file that need no decoding: those of a binary PNM with 8 bits per sample.
// nullopt: read_picture() must decode it. The warning is that of Picture. Throws InputError, for
// the reasons of read_picture().
struct PixelsInFile {
  ImageView pixels;  // PixelFormat::rgb or gray, packed
  std::shared_ptr<const void> owner;
  std::string warning;
};
std::optional<PixelsInFile> pixels_in_file(const InputFile& file, const DecodeLimits& limits = {});

// Encodes a picture; the format follows the extension (.jpg, .jpeg or .png). Throws
// InputError("write") for a format that is not supported, or cannot hold a picture of this size.
std::vector<unsigned char> encode_picture(View<const Bgr> pixels, const std::string& extension);

// The same, but returns no bytes if the format is not supported, or cannot hold the picture.
std::vector<unsigned char> try_encode(View<const Bgr> pixels, const std::string& extension);

// Writes a picture, replacing any file of that name. Throws OutputError.
void write_picture(const std::filesystem::path& file, View<const Bgr> pixels);

// The libraries that read pictures, such as "libjpeg-turbo, libpng, OpenCV 4.6.0".
std::string codec_name();

// The file name extensions that read_picture can read, in lower case with the dot.
const std::vector<std::string_view>& picture_extensions();

enum class Match { no, yes, unknown };  // unknown: the beginning is too short to tell

// Does a file with this beginning hold a picture, where no name says so? (Not every build can
// decode all of them.) Text, such as a list of paths, is not taken for one.
Match match_picture(std::string_view beginning);

}  // namespace facesat
