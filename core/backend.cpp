#include "core/backend.hpp"

namespace facesat {

void Backend::load(const ImageView&) {
  throw ArgumentError("the CPU cannot read an image in the memory of a device");
}

}  // namespace facesat
