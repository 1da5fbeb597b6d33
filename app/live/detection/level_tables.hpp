// The integral images (summed area tables) of one level of the pyramid, for explanations.
#pragma once

#include <cstdint>
#include <memory>

#include "core/cpu/tile.hpp"
#include "core/frame_detector.hpp"
#include "core/rules.hpp"

namespace facesat::app {

// A window is shown by step x step pixels around its centre. This is how many pixels lie before
// those of the first window, in a row or column; `side` is that of the window.
constexpr int first_centre(int side, int step) {
  return (side - step) / 2;
}

// Holds all that is needed to explain any window of the level. Does not refer to the detector.
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
  // + 2. Row and column 0 are those that core/table.hpp calls -1.
  Image<std::uint32_t> planes_;
};

}  // namespace facesat::app
