// JPEG files by libjpeg-turbo.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "library/media/codec.hpp"

namespace facesat {

// The same pixels as cv::imread in the same reading, rotated upright unless the EXIF data are
// broken. nullopt if the file is not a JPEG, is damaged in any way, or has colours that
// libjpeg-turbo does not convert (CMYK). `damage`, if given, becomes the message of libjpeg-turbo
// about damaged data. Throws InputError("limit"), MemoryError, Stopped.
std::optional<Picture> read_jpeg(std::span<const unsigned char> file,
                                 const DecodeLimits& limits = {}, Reading reading = Reading::colour,
                                 std::string* damage = nullptr);

// Throws InputError("limit") for a JPEG with too many pixels, or with so many scans that decoding
// it would take minutes. For files that read_jpeg leaves to other decoders.
void require_jpeg_within_limits(std::span<const unsigned char> file, const DecodeLimits& limits);

}  // namespace facesat
