// What the detector has inside: its intermediate pictures, such as integral images (summed area
// tables) and the atlas (the image that holds all levels of the pyramid), in colours; and how a
// cascade judges one window. All numbers are those of the detector, bit for bit.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/cpu/tile.hpp"
#include "core/frame_detector.hpp"
#include "core/rules.hpp"

namespace facesat::app {

struct Inspection {
  std::optional<Snapshot> picture;  // nullopt: the frame itself
  int level = 0;                    // of the pyramid
  bool atlas = false;               // show all levels of the atlas, at their places
  bool explains = false;            // results come with the tables of the level (LevelTables)
  bool filtered = false;            // a filter is applied to `picture`, the grey image
  // In the frame: the window most like it is explained, and chooses the level.
  std::optional<Rect> box{};
  std::string cascade{};  // which is inspected, if it is one of those in use, otherwise the first

  bool operator==(const Inspection&) const = default;

  // Does the picture have the proportions of the frame? Levels are scaled frames.
  bool is_frame() const { return !picture || *picture == Snapshot::gray || !atlas; }
};

// How much an intermediate picture covers the frame, in percent: each kind of picture has its own.
class Opacities {
 public:
  int& of(const Inspection& shown) { return percent_[index(shown)]; }
  int of(const Inspection& shown) const { return percent_[index(shown)]; }

 private:
  static std::size_t index(const Inspection& shown);

  static constexpr std::size_t snapshots = static_cast<std::size_t>(Snapshot::depth) + 1;
  // In the order of Snapshot, then of a filtered image. Stages passed, the last Snapshot, are seen
  // with the frame.
  std::array<int, snapshots + 1> percent_{100, 100, 100, 100, 100, 50, 100};
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

// The integral images of one level of the pyramid. Holds all that is needed to explain any window
// of the level. Does not refer to the detector.
class LevelTables {
 public:
  // Of the frame that `detector` has processed last, which must have this level. `cascade` is the
  // detector's. Throws MemoryError or DeviceError.
  LevelTables(FrameDetector& detector, std::shared_ptr<const Cascade> cascade, int level);

  const Cascade& cascade() const { return *cascade_; }
  const Level& level() const { return level_; }
  int index() const { return index_; }  // of the level

  // Pixels of the frame per pixel of the level.
  double across() const { return static_cast<double>(image_.width) / level_.size.width; }
  double down() const { return static_cast<double>(image_.height) / level_.size.height; }

  // The position, in pixels of the level, of the window that is shown by the pixel at a point of
  // the frame; where none is, of the nearest one.
  rules::Corner window_around(double x, double y) const;

  // How the tables lie in memory, and the place of a window's corner (0, 0) in the integral image.
  cpu::Layout layout() const;
  std::ptrdiff_t squares() const { return planes_.view().pitch; }
  const std::uint32_t* window(rules::Corner at) const;

 private:
  void put(View<const std::uint32_t> table, int plane, bool tilted);

  std::shared_ptr<const Cascade> cascade_;
  Level level_;
  int index_;
  Size image_;
  // Row y of the integral image, of the squared and of the tilted one are rows 3 y, 3 y + 1 and 3 y
  // + 2. Row and column 0 are those that core/image.hpp calls -1.
  Image<std::uint32_t> planes_;
};

// The window that is explained in place of a box.
struct WindowLikeBox {
  int level = 0;
  rules::Corner window{};
  std::vector<Rect>
      merged;  // the boxes of its class, from which a face was made; empty: the cascade rejects it
};

// Of the windows that the detector found in its last frame, which must have levels: the one whose
// edges are nearest to those of the box, if it is similar to the box. Otherwise the one around its
// centre, on the level where windows are nearly as wide.
WindowLikeBox window_like(FrameDetector& detector, const Rect& box);

// What to explain. Everything is counted from 0.
struct FeatureChoice {
  int stage = 0, weak = 0, node = 0;  // the weak classifier of that stage, the node of its tree
  int rectangle = 0;                  // of that node's feature

  bool operator==(const FeatureChoice&) const = default;

  // The nearest choice that the cascade has.
  FeatureChoice within(const Cascade& cascade) const;
  const Tree& tree(const Cascade& cascade) const;
  const Node& of(const Cascade& cascade) const;
};

// A rectangle of a feature. Its corners A, B, C, D are top left, top right, bottom left and bottom
// right; of a tilted rectangle top, left, right and bottom.
struct RectangleSum {
  Rect rect;                            // in the window; tilted: see HaarFeature
  std::array<rules::Corner, 4> corner;  // in the window, between pixels
  std::array<std::uint32_t, 4> read;    // the elements of the integral image there
  std::uint32_t sum = 0;                // D - B - C + A, modulo 2^32
  float weight = 0;                     // Haar
  bool bit = false;                     // LBP: the block is not below the centre
};

// The rectangles of a feature: one to three of a Haar feature; of an LBP feature its 3 x 3 blocks
// in rows. `window`: of LevelTables.
std::vector<RectangleSum> rectangles_of(const LevelTables& tables, rules::Corner window,
                                        const Node& node);

struct Explanation {
  rules::Corner window{};                // in pixels of the level
  std::vector<RectangleSum> rectangles;  // of the chosen node's feature
  float inverse_deviation = 0;           // see core/rules.hpp; 0: a low-variance window
  double deviation = 0;                  // of its pixels; 0 if low, and for LBP
  int area = 0;                          // pixels that the deviation is of; 0 for LBP
  float value = 0;                       // Haar: the normalised feature
  unsigned code = 0;                     // LBP
  bool left = false;                     // the node test

  // The walk through the chosen tree, from its root to a leaf.
  struct Step {
    int node;
    bool left;
  };
  std::vector<Step> walk;
  bool is_on_walk = false;  // does the walk reach the chosen node?

  float response = 0;         // of the chosen weak classifier
  double sum_so_far = 0;      // of the stage, up to this weak classifier
  double stage_sum = 0;       // of all its weak classifiers
  bool passes_stage = false;  // is stage_sum not below the threshold?
  int stages_passed = 0;      // as Snapshot::depth
};

// `choice` must be within the cascade. `window`: a position that window_around() can return. Takes
// some microseconds per stage passed.
Explanation explain(const LevelTables& tables, rules::Corner window, const FeatureChoice& choice);

}  // namespace facesat::app
