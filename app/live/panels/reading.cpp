#include "app/live/panels/reading.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/rules.hpp"

namespace facesat::app {
namespace {

std::string name_of(const Inspection& shown) {
  if (shown.filtered) return "the filtered image";
  if (shown.picture == Snapshot::gray) return "the grey image";
  return shown.is_frame() ? fmt::format("level {}", shown.level) : "the atlas";
}

bool has_value(const InspectedPicture& picture, std::uint32_t value) {
  // Every element of a single integral image is a value, whatever it is.
  if (picture.is_in_false_colours() && picture.shown.picture != Snapshot::depth &&
      picture.shown.is_frame())
    return true;
  return value != no_value;
}

}  // namespace

std::string with_commas(std::uint64_t number) {
  if (number < 1000) return std::to_string(number);
  return fmt::format("{},{:03}", with_commas(number / 1000), number % 1000);
}

Reading reading_of(View<const Bgr> frame, int x, int y) {
  const Bgr pixel = frame.row(y)[x];
  return {fmt::format("pixel ({}, {}) of the frame: grey {}", x, y,
                      rules::gray_of(pixel.b, pixel.g, pixel.r)),
          fmt::format("mixed from red {}, green {} and blue {}", pixel.r, pixel.g, pixel.b)};
}

Reading reading_of(const InspectedPicture& picture, double x, double y) {
  const Size size = picture.values.size();
  const int column = std::clamp(static_cast<int>(x * size.width), 0, size.width - 1);
  const int row = std::clamp(static_cast<int>(y * size.height), 0, size.height - 1);
  const std::uint32_t value = picture.values.row(row)[column];
  const std::string place =
      fmt::format("pixel ({}, {}) of {}", column, row, name_of(picture.shown));
  const bool is_depth = picture.shown.picture == Snapshot::depth;
  if (!has_value(picture, value))
    return {place, is_depth ? "no window has its centre here" : "between the levels"};
  switch (*picture.shown.picture) {
    case Snapshot::gray:
    case Snapshot::level:
      return {fmt::format("{}: grey {}", place, value), "0 is black, 255 is white"};
    case Snapshot::sum:
      return {fmt::format("{}: sum {}", place, with_commas(value)),
              "of all pixels above and to the left, this one included"};
    case Snapshot::squared_sum:
      return {fmt::format("{}: sum of squares {}", place, with_commas(value)),
              "of all pixels above and to the left, this one included, modulo 2^32"};
    case Snapshot::tilted_sum:
      return {fmt::format("{}: sum {}", place, with_commas(value)),
              "of all pixels in a cone that widens upwards from this one"};
    case Snapshot::depth:
      return {fmt::format("{}: {} of {} stages passed", place, value, picture.largest),
              "by the window that has its centre here"};
  }
  return {place, ""};
}

}  // namespace facesat::app
