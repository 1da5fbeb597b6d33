// Sizes as the user types them: "N" or "WxH".
#pragma once

#include <string>

#include "core/image.hpp"

namespace facesat {

// Throws UsageError unless `text` is a size in pixels, each side 0 or more.
Size parse_size(const std::string& text);

}  // namespace facesat
