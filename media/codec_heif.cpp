#include "media/codec_formats.hpp"
#include "media/load_module.hpp"

namespace facesat {

Picture read_heif(std::span<const unsigned char> file, const DecodeLimits& limits) {
  static const void* const table = load_module(FACESAT_HEIF_MODULE, "facesat_heif");
  return static_cast<const Heif*>(table)->read(file, limits);
}

}  // namespace facesat
