// JPEG files by libjpeg-turbo.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "library/media/codec.hpp"

namespace facesat {

// The pixels that cv::imread decodes, upright unless its EXIF data are broken. Nothing for what is
// no JPEG, whose pixels are damaged in any way, or whose colours libjpeg-turbo does not convert
// (CMYK). `damage`, if given, becomes what libjpeg-turbo says of damaged data. Throws
// InputError("limit"), MemoryError, Stopped.
std::optional<Picture> read_jpeg(std::span<const unsigned char> file,
                                 const DecodeLimits& limits = {}, std::string* damage = nullptr);

// Throws InputError("limit") for a JPEG that has too many pixels, or scans enough that a decoder
// would be busy with it for minutes. For those that read_jpeg leaves to other decoders.
void require_bearable_jpeg(std::span<const unsigned char> file, const DecodeLimits& limits);

}  // namespace facesat
