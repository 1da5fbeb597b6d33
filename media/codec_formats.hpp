// The readers of formats that do not need OpenCV; codec.cpp has the table of them. Those of HEIF,
// TIFF and WebP are missing in builds without their libraries.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "media/codec.hpp"

namespace facesat {

// ---- BMP files.

// The same pixels as cv::imread, also of files that use the format in unusual ways. Throws
// InputError for a file that cv::imread does not read, ends early, or has too many pixels;
// MemoryError; and Stopped.
Picture read_bmp(std::span<const unsigned char> file, const DecodeLimits& limits = {});

// ---- HEIF files (HEIC, AVIF) by libheif, which is in a library of its own (heif_module/): it
// depends on decoders and encoders of video, and loading those takes several milliseconds.

// The functions of that library.
struct Heif {
  Picture (*read)(std::span<const unsigned char> file, const DecodeLimits& limits);
};

// The primary picture as libheif converts it to 8-bit colour, with the rotations and crops of the
// file applied. Loads the library on the first call. Throws InputError for a file that is damaged,
// has too many pixels, or a codec that libheif was built without, and if the library is missing;
// and MemoryError.
Picture read_heif(std::span<const unsigned char> file, const DecodeLimits& limits = {});

// ---- JPEG files by libjpeg-turbo.

// The same pixels as cv::imread in the same reading, rotated upright as it does; also of damaged
// files, with a warning. Throws InputError for a file that libjpeg-turbo does not decode, that has
// too many pixels, or whose scans would take minutes to decode; MemoryError; and Stopped.
Picture read_jpeg(std::span<const unsigned char> file, const DecodeLimits& limits = {},
                  Reading reading = Reading::colour);

// From now on, read_jpeg() asks this function first, which has the same results, and returns
// nullopt for what is left to libjpeg-turbo. Any number of threads may call it at the same time.
// Null: none.
using DecodeJpeg = std::function<std::optional<Picture>(
    std::span<const unsigned char> file, const DecodeLimits& limits, Reading reading)>;
void decode_jpegs_with(DecodeJpeg decode);

// Does another picture begin where the first one of this file ends, at byte `end`? Previews, and
// the map that gives a photograph a larger range of brightness, are none.
bool has_more_pictures(std::span<const unsigned char> jpeg, std::size_t end);

// The orientation in the first APP1 segment of a JPEG, as exif_orientation() has it.
int jpeg_orientation(std::span<const unsigned char> segment);

// Encodes with a quality of 95, as cv::imencode does. No bytes if a side has more than 65500
// pixels.
std::vector<unsigned char> to_jpeg(View<const Bgr> pixels);

// ---- PNG files by libpng.

// The same pixels as cv::imread, rotated upright by the EXIF data. Throws InputError for a file
// that is not a PNG, is damaged in any way, or has too many pixels; MemoryError; and Stopped if
// limits.should_stop asked for it.
Picture read_png(std::span<const unsigned char> file, const DecodeLimits& limits = {});

// Encodes as cv::imencode does. No bytes if a side has more than a million pixels.
std::vector<unsigned char> to_png(View<const Bgr> pixels);

// ---- PNM files: PBM, PGM and PPM, as text (P1, P2, P3) and binary (P4, P5, P6).

// The same pixels as cv::imread. Throws InputError for a file that cv::imread does not read, ends
// early, or has too many pixels; MemoryError; and Stopped.
Picture read_pnm(std::span<const unsigned char> file, const DecodeLimits& limits = {});

// As pixels_in_file(); the file owns the pixels.
std::optional<PixelsInFile> pixels_in_pnm(std::span<const unsigned char> file,
                                          const DecodeLimits& limits = {});

// ---- TIFF files by libtiff.

// The first page, with the same pixels as cv::imread: rotated by its orientation, as far as OpenCV
// does that. Damaged data are decoded as far as libtiff can, with a warning. Throws InputError for
// a file that libtiff does not decode to 8-bit colour, or that has too many pixels; MemoryError;
// and Stopped.
Picture read_tiff(std::span<const unsigned char> file, const DecodeLimits& limits = {});

// ---- WebP files by libwebp.

// The same pixels as cv::imread, which does not rotate by EXIF data; of an animation, the first
// frame, which cv::imread of OpenCV 4.6 does not read. Throws InputError for a file that is no
// WebP, is damaged in any way, or has too many pixels; and MemoryError.
Picture read_webp(std::span<const unsigned char> file, const DecodeLimits& limits = {});

}  // namespace facesat
