#include "media/decode_limits.hpp"

#include <fmt/format.h>

namespace facesat {

InputError too_large(Size size, const DecodeLimits& limits) {
  return {"limit", fmt::format("the picture has {}x{} pixels, more than the {} that are decoded; "
                               "--max-pixels raises the limit",
                               size.width, size.height, limits.max_pixels)};
}

}  // namespace facesat
