#include "core/resample.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "core/pyramid.hpp"

namespace facesat {
namespace {

// What the output pixels of one axis consist of.
struct Axis {
  struct Tap {
    int pixel;  // of the picture
    std::int64_t weight;
  };
  std::vector<Tap> taps;          // of all output pixels, one after the other
  std::vector<std::size_t> ends;  // of each output pixel's taps, after a leading 0
  std::int64_t total = 0;         // of the weights of one output pixel

  std::span<const Tap> of(int output) const {
    return std::span(taps).subspan(ends[output], ends[output + 1] - ends[output]);
  }
};

// The means of what output pixels cover. Positions are in units of 1/length of a pixel, in which
// the edges of all pixels are whole numbers.
Axis area_axis(int source, int length) {
  Axis axis{.taps = {}, .ends = {0}, .total = source};
  for (std::int64_t output = 0; output < length; ++output) {
    const std::int64_t begin = output * source, end = begin + source;
    for (std::int64_t pixel = begin / length; pixel * length < end; ++pixel)
      axis.taps.push_back({static_cast<int>(pixel),
                           std::min(end, (pixel + 1) * length) - std::max(begin, pixel * length)});
    axis.ends.push_back(axis.taps.size());
  }
  return axis;
}

Axis bilinear_axis(int source, int length) {
  Axis axis{.taps = {}, .ends = {0}, .total = 256};
  for (const ResizeTap& tap : resize_taps(source, length)) {
    axis.taps.push_back({tap.first, tap.first_weight});
    if (tap.second_weight > 0) axis.taps.push_back({tap.second, tap.second_weight});
    axis.ends.push_back(axis.taps.size());
  }
  return axis;
}

// `begin`: where the `source` pixels begin; `limit`: how many pixels the picture has.
Axis make_axis(int begin, int source, int length, int limit, Enlarging enlarging) {
  const bool is_bilinear = length > source && enlarging == Enlarging::smooth;
  Axis axis = is_bilinear ? bilinear_axis(source, length) : area_axis(source, length);
  for (Axis::Tap& tap : axis.taps) tap.pixel = std::clamp(begin + tap.pixel, 0, limit - 1);
  return axis;
}

// The weighted sums of pixels.
struct GraySum {
  std::int64_t gray = 0;
  void add(std::uint8_t pixel, std::int64_t weight) { gray += weight * pixel; }
  template <class Rounded>
  std::uint8_t mean(Rounded rounded) const {
    return rounded(gray);
  }
};
struct BgrSum {
  std::int64_t b = 0, g = 0, r = 0;
  void add(Bgr pixel, std::int64_t weight) {
    b += weight * pixel.b;
    g += weight * pixel.g;
    r += weight * pixel.r;
  }
  template <class Rounded>
  Bgr mean(Rounded rounded) const {
    return {rounded(b), rounded(g), rounded(r)};
  }
};

template <class Sum, class Pixel>
Image<Pixel> resample(View<const Pixel> picture, const Rect& region, Size size,
                      Enlarging enlarging) {
  const auto [width, height] = picture.size;
  const Axis columns = make_axis(region.x, region.width, size.width, width, enlarging),
             rows = make_axis(region.y, region.height, size.height, height, enlarging);
  const std::int64_t total = columns.total * rows.total;
  const auto rounded = [total](std::int64_t sum) {
    return static_cast<std::uint8_t>((sum + total / 2) / total);
  };
  Image<Pixel> result(size);
  std::vector<Sum> sums(static_cast<std::size_t>(size.width));
  for (int y = 0; y < size.height; ++y) {
    std::fill(sums.begin(), sums.end(), Sum{});
    for (const Axis::Tap& row : rows.of(y))
      for (int x = 0; x < size.width; ++x)
        for (const Axis::Tap& column : columns.of(x))
          sums[x].add(picture.row(row.pixel)[column.pixel], row.weight * column.weight);
    std::transform(sums.begin(), sums.end(), result.row(y),
                   [&](const Sum& sum) { return sum.mean(rounded); });
  }
  return result;
}

}  // namespace

Image<Bgr> resampled(View<const Bgr> picture, const Rect& region, Size size, Enlarging enlarging) {
  return resample<BgrSum>(picture, region, size, enlarging);
}

Image<std::uint8_t> resampled(View<const std::uint8_t> picture, const Rect& region, Size size,
                              Enlarging enlarging) {
  return resample<GraySum>(picture, region, size, enlarging);
}

}  // namespace facesat
