#include "training/window_positions.hpp"

#include <algorithm>
#include <span>

#include "core/cpu/gray.hpp"

namespace facesat::training {

WindowPositions::WindowPositions(Size picture, Size window, double scale_factor)
    : pyramid_(
          plan_pyramid(picture, window,
                       {.scale_factor = scale_factor, .min_neighbors = 0, .scan = Scan::dense})),
      first_{0} {
  for (const Level& level : pyramid_.levels) {
    first_.push_back(first_.back() + level.grid.area());
    taps_.push_back({resize_taps(picture.width, level.size.width),
                     resize_taps(picture.height, level.size.height)});
  }
}

WindowPositions::Place WindowPositions::place(std::uint64_t number) const {
  const auto level = std::upper_bound(first_.begin(), first_.end(), number) - first_.begin() - 1;
  const auto in_level = number - first_[level];
  const auto columns = static_cast<std::uint64_t>(pyramid_.levels[level].grid.width);
  return {static_cast<int>(level), static_cast<int>(in_level % columns),
          static_cast<int>(in_level / columns)};
}

std::uint64_t WindowPositions::number(const Place& place) const {
  return first_[place.level] +
         static_cast<std::uint64_t>(place.y) * pyramid_.levels[place.level].grid.width + place.x;
}

Rect WindowPositions::box(const Place& place) const {
  return window_in_image(pyramid_.levels[place.level], pyramid_.window, place.x, place.y);
}

void WindowPositions::cut(View<const std::uint8_t> gray, const Place& place,
                          View<std::uint8_t> pixels) const {
  const Taps& taps = taps_[place.level];
  const Size window = pyramid_.window;
  cpu::resize(gray, pixels, std::span(taps.columns).subspan(place.x, window.width),
              std::span(taps.rows).subspan(place.y, window.height));
}

}  // namespace facesat::training
