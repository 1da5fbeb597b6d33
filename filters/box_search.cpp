#include "filters/box_search.hpp"

#include <fmt/format.h>

namespace facesat {
namespace {

void add(View<const std::uint8_t> gray, const Rect& part, std::uint32_t count, Histogram& to) {
  for (int y = part.y; y < part.y + part.height; ++y)
    for (int x = part.x; x < part.x + part.width; ++x)
      to[static_cast<std::size_t>(bin_of(gray.row(y)[x], histogram_bins))] += count;
}

constexpr std::uint32_t minus_one = ~0u;  // counts wrap

// A histogram that slides from box to box: each step adds a row or column of pixels and takes away
// another.
class CpuBoxSearch final : public BoxSearch {
 public:
  BoxMatch find(View<const std::uint8_t> gray, const Histogram& object, const Rect& box,
                int reach) override {
    const BoxPlaces places = places_of(box, reach, gray.size);
    const auto [width, height] = Size{box.width, box.height};
    Histogram first = histogram_of(gray, {places.x, places.y, width, height});
    std::uint64_t best = 0;
    for (int j = 0; j < places.count.height; ++j) {
      const int y = places.y + j;
      if (j > 0) {
        add(gray, {places.x, y - 1, width, 1}, minus_one, first);
        add(gray, {places.x, y + height - 1, width, 1}, 1, first);
      }
      Histogram here = first;
      for (int i = 0; i < places.count.width; ++i) {
        const int x = places.x + i;
        if (i > 0) {
          add(gray, {x - 1, y, 1, height}, minus_one, here);
          add(gray, {x + width - 1, y, 1, height}, 1, here);
        }
        best = std::max(best, rank_of(in_common(here, object), x - box.x, y - box.y));
      }
    }
    return match_of(best, box);
  }
};

}  // namespace

Histogram histogram_of(View<const std::uint8_t> gray, const Rect& box) {
  Histogram histogram{};
  add(gray, box, 1, histogram);
  return histogram;
}

BoxPlaces places_of(const Rect& box, int reach, Size picture) {
  if (box.width < 1 || box.height < 1 || box.x < 0 || box.y < 0 ||
      box.width > picture.width - box.x || box.height > picture.height - box.y)
    throw ArgumentError(fmt::format("a box of {} x {} pixels at {}, {} is not within {} x {}",
                                    box.width, box.height, box.x, box.y, picture.width,
                                    picture.height));
  if (reach < 0 || reach > greatest_reach)
    throw ArgumentError(
        fmt::format("a box is searched for up to {} pixels away, not {}", greatest_reach, reach));
  const int x = std::max(0, box.x - reach), y = std::max(0, box.y - reach);
  return {box,
          x,
          y,
          {std::min(box.x + reach, picture.width - box.width) - x + 1,
           std::min(box.y + reach, picture.height - box.height) - y + 1}};
}

std::unique_ptr<BoxSearch> make_cpu_box_search() {
  return std::make_unique<CpuBoxSearch>();
}

}  // namespace facesat
