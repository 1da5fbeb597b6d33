// Picture files <-> pixels. JPEG and PNG files are read by codec_jpeg.cpp and codec_png.cpp; what
// those leave is read by OpenCV (codec_opencv.cpp) or, in builds without it, by stb_image
// (codec_stb.cpp).
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/image.hpp"
#include "library/media/decode_limits.hpp"
#include "library/media/input_file.hpp"

namespace facesat {

// A decoded picture; `owner` keeps the pixels alive.
struct Picture {
  View<const Bgr> pixels;
  std::shared_ptr<const void> owner;
  std::string warning;  // a sentence, if the picture is not whole
};

// The warning about an animation.
constexpr const char* only_first_frame = "this is an animation: only its first frame is looked at";

// Prepares the libraries for these limits. To be called before other threads start; without it,
// they have limits of their own (OpenCV's are 2^30 pixels).
void prepare_codecs(const DecodeLimits& limits);

// Decodes a picture to 8-bit colour as cv::imread does: upright by its EXIF orientation, 16 bits
// reduced to 8, alpha dropped. Throws InputError, Stopped.
Picture read_picture(const InputFile& file, const DecodeLimits& limits = {});
Picture read_picture(const std::filesystem::path& file, const DecodeLimits& limits = {});

// Reads what is neither a sound JPEG nor a PNG; does not look for its end. Throws InputError.
Picture read_other_picture(const InputFile& file, const DecodeLimits& limits);

// A picture file's bytes; the format follows the extension (.jpg, .jpeg or .png). Throws
// InputError("write") for a format that cannot be written, or cannot hold a picture of this size.
std::vector<unsigned char> encode_picture(View<const Bgr> pixels, const std::string& extension);

// The same; no bytes where that fails.
std::vector<unsigned char> try_encode(View<const Bgr> pixels, const std::string& extension);

// Writes a picture, over whatever file is there. Throws OutputError.
void write_picture(const std::filesystem::path& file, View<const Bgr> pixels);

// The libraries that read pictures: "libjpeg-turbo, libpng, OpenCV 4.6.0".
std::string codec_name();

// File name extensions, in lower case with the dot, of what read_picture can read.
const std::vector<std::string_view>& picture_extensions();

}  // namespace facesat
