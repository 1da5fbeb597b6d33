#include "app/detect/orientation.hpp"

#include <utility>

#include "media/exif.hpp"

namespace facesat::app {
namespace {

// How convincing a result is: false faces are merged from a few windows, so that the windows tell
// more than the faces, and then the sum of scores.
std::pair<std::size_t, double> evidence(const std::vector<Face>& faces) {
  std::pair<std::size_t, double> sum;
  for (const Face& found : faces) {
    sum.first += static_cast<std::size_t>(found.neighbors);
    sum.second += found.score;
  }
  return sum;
}

}  // namespace

std::vector<Face> turn_upright(Picture& picture, const Detector& detector,
                               const ShouldStop& should_stop) {
  const auto search = [&](const Picture& turned) {
    return detector.detect(image_view(turned), should_stop).faces;
  };
  std::vector<Face> faces = search(picture);
  if (picture.orientation != 0) return faces;
  const Picture original = picture;
  picture.orientation = 1;
  for (const int orientation : {6, 8, 3}) {
    Picture turned = upright(original, orientation);
    std::vector<Face> found = search(turned);
    if (evidence(found) <= evidence(faces)) continue;
    faces = std::move(found);
    picture = std::move(turned);
  }
  return faces;
}

}  // namespace facesat::app
