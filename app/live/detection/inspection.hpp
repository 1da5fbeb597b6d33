// Shows intermediate pictures of the detector, such as integral images and the atlas (the image
// that holds all levels of the pyramid), in colours.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include "core/frame_detector.hpp"

namespace facesat::app {

struct Inspection {
  std::optional<Snapshot> picture;  // nullopt: the frame itself
  int level = 0;                    // of the pyramid
  bool atlas = false;               // show all levels of the atlas, at their places
  bool explains = false;            // results come with the tables of the level (LevelTables)
  bool filtered = false;            // a filter is applied to `picture`, the grey image

  bool operator==(const Inspection&) const = default;

  // Does the picture have the proportions of the frame? Levels are scaled frames.
  bool is_frame() const { return !picture || *picture == Snapshot::gray || !atlas; }
};

// What pixels have where the picture shows nothing: between the levels of the atlas, and where no
// window has its centre.
constexpr std::uint32_t no_value = std::numeric_limits<std::uint32_t>::max();

// A window is shown by step x step pixels around its centre. This is how many pixels lie before
// those of the first window, in a row or column; `side` is that of the window.
constexpr int first_centre(int side, int step) {
  return (side - step) / 2;
}

// An intermediate picture with the values that its colours stand for.
struct InspectedPicture {
  Inspection shown;  // as requested, but with a level that exists
  Image<std::uint32_t> values;
  Image<Bgr> colours;
  // The value of the brightest colour: the number of stages for depths, and the sum over the whole
  // level for integral images. 0: the levels of the atlas have values of their own.
  double largest = 0;

  bool is_in_false_colours() const;
};

// The place in the palette of a value of this picture, from 0 to 1. Integral images: its share of
// `largest`. Depths (the numbers of stages that windows pass): the square root of that, because
// most windows pass few.
double place_in_palette(double value, Snapshot picture, double largest);

// From black over blue, green and yellow to white; `place` is 0 to 1.
Bgr palette(double place);

// Grey images stay grey; all others are in the colours of the palette.
Image<Bgr> coloured(const Image<std::uint32_t>& values, Snapshot picture, double largest);

// The selected picture of the last frame, which must have at least one level; inspection.picture
// must be set. A depth is shown at the centre of its window.
InspectedPicture inspect(FrameDetector& detector, const Inspection& inspection);

}  // namespace facesat::app
