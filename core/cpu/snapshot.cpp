#include "core/cpu/snapshot.hpp"

#include <algorithm>
#include <utility>

#include "core/cpu/integral.hpp"
#include "core/cpu/resize.hpp"
#include "core/memory.hpp"
#include "core/table.hpp"

namespace facesat::cpu {
namespace {

// A copy with 32 bits per element.
template <class T>
Image<std::uint32_t> copied(View<const T> from) {
  Image<std::uint32_t> to(from.size);
  for (int y = 0; y < from.size.height; ++y) std::copy_n(from.row(y), from.size.width, to.row(y));
  return to;
}

}  // namespace

Image<std::uint32_t> widened(View<const std::uint8_t> picture) {
  return copied(picture);
}

Image<std::uint32_t> level_snapshot(View<const std::uint8_t> gray, const Level& level,
                                    Snapshot picture) {
  // Five bytes per pixel: one for the resized level, four for the result.
  require_memory(5 * level.size.area() + 2 * Table::bytes(level.size), "this view");
  Image<std::uint8_t> resized(level.size);
  resize(gray, resized.view(), resize_taps(gray.size.width, level.size.width),
         resize_taps(gray.size.height, level.size.height));
  const View<const std::uint8_t> pixels = std::as_const(resized).view();
  if (picture == Snapshot::level) return widened(pixels);
  Table sum, other;  // `other` is the squared or the tilted integral image
  sum.resize(level.size);
  other.resize(level.size);
  if (picture == Snapshot::tilted_sum)
    tilted_integral(pixels, other.view());
  else
    integral(pixels, sum.view(), other.view());
  return copied(std::as_const(picture == Snapshot::sum ? sum : other).view());
}

}  // namespace facesat::cpu
