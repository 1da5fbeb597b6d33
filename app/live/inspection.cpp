#include "app/live/inspection.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "kernels/image/atlas.hpp"

namespace facesat::app {
namespace {

// The colour of a value from 0 to 1, mixed from the two nearest of the points.
Bgr palette(double value) {
  struct Point {
    double b, g, r;
  };
  static constexpr std::array<Point, 6> points{
      {{24, 8, 8}, {160, 40, 60}, {150, 150, 20}, {60, 190, 90}, {40, 220, 240}, {255, 255, 255}}};
  const double place = std::clamp(value, 0.0, 1.0) * (points.size() - 1);
  const auto first = std::min(static_cast<std::size_t>(place), points.size() - 2);
  const double part = place - static_cast<double>(first);
  const auto mixed = [&](double Point::*of) {
    return static_cast<std::uint8_t>(points[first].*of * (1 - part) + points[first + 1].*of * part);
  };
  return {mixed(&Point::b), mixed(&Point::g), mixed(&Point::r)};
}

// An image of the same size, with the pixels colour(x, y).
template <class Colour>
Image<Bgr> each(const Image<std::uint32_t>& values, Colour colour) {
  Image<Bgr> image(values.size());
  for (int y = 0; y < values.size().height; ++y)
    for (int x = 0; x < values.size().width; ++x) image.row(y)[x] = colour(x, y);
  return image;
}

}  // namespace

Image<Bgr> coloured(const Image<std::uint32_t>& values, Snapshot picture, std::size_t stage_count) {
  const Size size = values.size();
  if (size.area() == 0) return Image<Bgr>(size);
  if (picture == Snapshot::gray || picture == Snapshot::level)
    return each(values, [&](int x, int y) {
      const auto v = static_cast<std::uint8_t>(values.row(y)[x]);
      return Bgr{v, v, v};
    });
  if (picture == Snapshot::depth)
    return each(values, [&](int x, int y) {
      return palette(std::sqrt(values.row(y)[x] / static_cast<double>(stage_count)));
    });
  const double whole =  // the sum over the whole level
      std::max(1u, values.row(size.height - 1)[size.width - 1]);
  return each(values, [&](int x, int y) { return palette(values.row(y)[x] / whole); });
}

Image<Bgr> inspect(Detector& detector, const Inspection& inspection) {
  const Pyramid& pyramid = detector.pyramid();
  const int last = static_cast<int>(pyramid.levels.size()) - 1;
  const int chosen = std::clamp(inspection.level, 0, last);
  const auto picture = [&](int level) {
    return coloured(detector.backend().snapshot(*inspection.picture, level), *inspection.picture,
                    detector.cascade().stages.size());
  };
  if (inspection.is_frame()) return picture(chosen);
  const gpu::AtlasPlan plan = gpu::plan_atlas(pyramid);
  // A group is a number of consecutive levels that share one atlas.
  const gpu::LevelGroup& group = plan.groups[plan.places[chosen].group];
  Image<Bgr> atlas(group.atlas);
  for (int y = 0; y < group.atlas.height; ++y) std::fill_n(atlas.row(y), group.atlas.width, Bgr{});
  for (int i = group.first; i < group.first + group.count; ++i) {
    const Level& level = pyramid.levels[i];
    const gpu::AtlasPlan::Place place = plan.places[i];
    const Image<Bgr> part = picture(i);
    // Depths (stages passed) are known only where windows are evaluated: at every `step`-th pixel
    // of every `step`-th row.
    const int step = *inspection.picture == Snapshot::depth ? level.step : 1;
    for (int y = 0; y < std::min(part.size().height * step, level.size.height); ++y)
      for (int x = 0; x < std::min(part.size().width * step, level.size.width); ++x)
        atlas.row(place.y + y)[place.x + x] = part.row(y / step)[x / step];
  }
  return atlas;
}

}  // namespace facesat::app
