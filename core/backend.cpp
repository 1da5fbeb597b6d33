#include "core/backend.hpp"

namespace facesat {

std::vector<Face> ungrouped(std::span<const Window> windows) {
  std::vector<Face> faces;
  faces.reserve(windows.size());
  for (const Window& window : windows) faces.push_back({window.box, 1, window.score});
  return faces;
}

void Backend::load(const ImageView&) {
  throw ArgumentError("the CPU cannot read an image in the memory of a device");
}

}  // namespace facesat
