#include "app/live/gui/shrink.hpp"

#include <algorithm>

namespace facesat::app {
namespace {

// The mean colour of a block, rounded to the nearest value in each channel.
Bgr mean(View<const Bgr> block) {
  unsigned b = 0, g = 0, r = 0;
  for (int y = 0; y < block.size.height; ++y)
    for (int x = 0; x < block.size.width; ++x) {
      const Bgr pixel = block.row(y)[x];
      b += pixel.b, g += pixel.g, r += pixel.r;
    }
  const auto count = static_cast<unsigned>(block.size.area());
  const auto rounded = [count](unsigned sum) {
    return static_cast<std::uint8_t>((sum + count / 2) / count);
  };
  return {rounded(b), rounded(g), rounded(r)};
}

}  // namespace

int shrink_factor(Size size, int limit) {
  return std::max(1, divide_up(std::max(size.width, size.height), std::max(1, limit)));
}

Image<Bgr> shrink(View<const Bgr> picture, int factor) {
  const Size full = picture.size;
  Image<Bgr> image({divide_up(full.width, factor), divide_up(full.height, factor)});
  for (int y = 0; y < image.size().height; ++y)
    for (int x = 0; x < image.size().width; ++x) {
      const int left = x * factor, top = y * factor;
      image.row(y)[x] = mean(picture.sub(
          {left, top, std::min(factor, full.width - left), std::min(factor, full.height - top)}));
    }
  return image;
}

}  // namespace facesat::app
