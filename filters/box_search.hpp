// Follows an object through a video by its histogram: of all boxes of its size near its last place,
// finds the one whose histogram has most in common with that of the object. On the CPU here;
// kernels/filter/cuda_box_search.cpp has the same on a GPU. Both find the same box.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>

#include "core/image.hpp"

namespace facesat {

// The bin that a grey value falls into, of that many equal ones.
constexpr int bin_of(std::uint8_t pixel, int bins) {
  return pixel * bins >> 8;
}

inline constexpr int histogram_bins = 16;
using Histogram = std::array<std::uint32_t, histogram_bins>;

// Of the pixels of a box, which lies within the picture.
Histogram histogram_of(View<const std::uint8_t> gray, const Rect& box);

// The intersection of two histograms: the number of pixels that they have in common. Source: M. J.
// Swain, D. H. Ballard, "Color indexing", International Journal of Computer Vision 1991.
constexpr std::uint32_t in_common(const Histogram& a, const Histogram& b) {
  std::uint32_t pixels = 0;
  for (std::size_t bin = 0; bin < a.size(); ++bin) pixels += std::min(a[bin], b[bin]);
  return pixels;
}

inline constexpr int greatest_reach = 127;

// The places of a box that are at most `reach` pixels away, along x and along y, and within the
// picture.
struct BoxPlaces {
  Rect box;    // where it was
  int x, y;    // the first place
  Size count;  // of places, across and down

  // All boxes together.
  constexpr Rect region() const {
    return {x, y, count.width - 1 + box.width, count.height - 1 + box.height};
  }
};
// Throws ArgumentError unless the box lies within the picture and the reach is from 0 to
// greatest_reach.
BoxPlaces places_of(const Rect& box, int reach, Size picture);

// Orders places: the better one has the greater rank. More pixels in common count first, then less
// distance, then the lower y, then the lower x. A rank is greater than 0. `in_common` is less than
// 2^31, `dx` and `dy` are at most greatest_reach.
constexpr std::uint64_t rank_of(std::uint32_t in_common, int dx, int dy) {
  const auto nearness = static_cast<std::uint64_t>((1 << 15) - 1 - dx * dx - dy * dy);
  const auto before =
      static_cast<std::uint64_t>((greatest_reach - dy) << 8 | (greatest_reach - dx));
  return static_cast<std::uint64_t>(in_common) << 31 | nearness << 16 | before;
}

struct BoxMatch {
  Rect box;
  std::uint32_t in_common = 0;  // pixels, see above
};
// The place that has this rank.
constexpr BoxMatch match_of(std::uint64_t rank, const Rect& box) {
  const int dx = greatest_reach - static_cast<int>(rank & 255);
  const int dy = greatest_reach - static_cast<int>(rank >> 8 & 255);
  return {{box.x + dx, box.y + dy, box.width, box.height}, static_cast<std::uint32_t>(rank >> 31)};
}

// Belongs to one thread at a time.
class BoxSearch {
 public:
  virtual ~BoxSearch() = default;

  // The best of places_of(box, reach, gray.size), as rank_of() orders them, for an object with this
  // histogram. Throws as places_of(), and on a GPU DeviceError.
  virtual BoxMatch find(View<const std::uint8_t> gray, const Histogram& object, const Rect& box,
                        int reach) = 0;
};

std::unique_ptr<BoxSearch> make_cpu_box_search();

}  // namespace facesat
