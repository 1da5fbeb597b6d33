#include "app/live/detection/inspection.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "kernels/image/atlas.hpp"

namespace facesat::app {
namespace {

// An image of the same size, with the pixels colour(x, y).
template <class Colour>
Image<Bgr> each(const Image<std::uint32_t>& values, Colour colour) {
  Image<Bgr> image(values.size());
  for (int y = 0; y < values.size().height; ++y)
    for (int x = 0; x < values.size().width; ++x) image.row(y)[x] = colour(x, y);
  return image;
}

bool is_integral(Snapshot picture) {
  return picture == Snapshot::sum || picture == Snapshot::squared_sum;
}

void fill(Image<std::uint32_t>& values, std::uint32_t value) {
  for (int y = 0; y < values.size().height; ++y)
    std::fill_n(values.row(y), values.size().width, value);
}

// Depths are known for windows, which begin at every `step`-th pixel of every `step`-th row. In the
// result, which has the level's size, each covers step x step pixels around its window's centre.
Image<std::uint32_t> at_centres(const Image<std::uint32_t>& depths, const Level& level,
                                Size window) {
  Image<std::uint32_t> result(level.size);
  fill(result, no_value);
  const int left = first_centre(window.width, level.step),
            top = first_centre(window.height, level.step);
  for (int y = 0; y < depths.size().height * level.step; ++y)
    for (int x = 0; x < depths.size().width * level.step; ++x)
      result.row(top + y)[left + x] = depths.row(y / level.step)[x / level.step];
  return result;
}

Image<std::uint32_t> values_of(FrameDetector& detector, Snapshot picture, int level) {
  Image<std::uint32_t> values = detector.backend().snapshot(picture, level);
  if (picture != Snapshot::depth) return values;
  return at_centres(values, detector.pyramid().levels[level], detector.cascade().window);
}

double largest_in(const Image<std::uint32_t>& values, const FrameDetector& detector,
                  Snapshot picture) {
  const Size size = values.size();
  if (picture == Snapshot::depth) return static_cast<double>(detector.cascade().stages.size());
  if (is_integral(picture)) return std::max(1u, values.row(size.height - 1)[size.width - 1]);
  return 255;
}

// All levels that share an atlas with the chosen one, each in colours of its own range.
InspectedPicture inspect_atlas(FrameDetector& detector, const Inspection& inspection) {
  const Snapshot picture = *inspection.picture;
  const gpu::AtlasPlan plan = gpu::plan_atlas(detector.pyramid());
  // A group is a number of consecutive levels that share one atlas.
  const gpu::LevelGroup& group = plan.groups[plan.places[inspection.level].group];
  InspectedPicture atlas{inspection, Image<std::uint32_t>(group.atlas), Image<Bgr>(group.atlas)};
  fill(atlas.values, no_value);
  for (int y = 0; y < group.atlas.height; ++y)
    std::fill_n(atlas.colours.row(y), group.atlas.width, Bgr{});
  for (int i = group.first; i < group.first + group.count; ++i) {
    const Image<std::uint32_t> values = values_of(detector, picture, i);
    const double largest = largest_in(values, detector, picture);
    const gpu::AtlasPlan::Place place = plan.places[i];
    const Rect part{place.x, place.y, values.size().width, values.size().height};
    const Image<Bgr> colours = coloured(values, picture, largest);
    copy(values.view(), atlas.values.view().sub(part));
    copy(colours.view(), atlas.colours.view().sub(part));
    if (!is_integral(picture)) atlas.largest = largest;
  }
  return atlas;
}

}  // namespace

bool InspectedPicture::is_in_false_colours() const {
  return shown.picture == Snapshot::depth || is_integral(*shown.picture);
}

double place_in_palette(double value, Snapshot picture, double largest) {
  return picture == Snapshot::depth ? std::sqrt(value / largest) : value / largest;
}

// Mixed from the two nearest of the points.
Bgr palette(double place) {
  struct Point {
    double b, g, r;
  };
  static constexpr std::array<Point, 6> points{
      {{24, 8, 8}, {160, 40, 60}, {150, 150, 20}, {60, 190, 90}, {40, 220, 240}, {255, 255, 255}}};
  const double along = std::clamp(place, 0.0, 1.0) * (points.size() - 1);
  const auto first = std::min(static_cast<std::size_t>(along), points.size() - 2);
  const double part = along - static_cast<double>(first);
  const auto mixed = [&](double Point::*of) {
    return static_cast<std::uint8_t>(points[first].*of * (1 - part) + points[first + 1].*of * part);
  };
  return {mixed(&Point::b), mixed(&Point::g), mixed(&Point::r)};
}

Image<Bgr> coloured(const Image<std::uint32_t>& values, Snapshot picture, double largest) {
  if (picture == Snapshot::gray || picture == Snapshot::level)
    return each(values, [&](int x, int y) {
      const auto v = static_cast<std::uint8_t>(values.row(y)[x]);
      return Bgr{v, v, v};
    });
  return each(values, [&](int x, int y) {
    const std::uint32_t value = values.row(y)[x];
    // An integral image may contain the same number.
    if (picture == Snapshot::depth && value == no_value) return Bgr{};
    return palette(place_in_palette(value, picture, largest));
  });
}

InspectedPicture inspect(FrameDetector& detector, const Inspection& inspection) {
  Inspection shown = inspection;
  const int last = static_cast<int>(detector.pyramid().levels.size()) - 1;
  shown.level = std::clamp(inspection.level, 0, last);
  if (!shown.is_frame()) return inspect_atlas(detector, shown);
  const Snapshot picture = *shown.picture;
  Image<std::uint32_t> values = values_of(detector, picture, shown.level);
  const double largest = largest_in(values, detector, picture);
  Image<Bgr> colours = coloured(values, picture, largest);
  return {shown, std::move(values), std::move(colours), largest};
}

}  // namespace facesat::app
