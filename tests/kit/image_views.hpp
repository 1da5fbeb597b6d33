// Images of all formats and layouts for tests of the library's interface.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "core/image.hpp"
#include "facesat.hpp"

namespace facesat::test {

struct OwnedView {
  std::string name;
  std::vector<std::uint8_t> bytes;
  ImageView view;
};

// The rows of a view one below the other, `gap` poisoned bytes apart, upwards if wanted.
inline OwnedView laid_out(const ImageView& image, int gap, bool upwards, std::string name) {
  const int row = image.size.width * bytes_per_pixel(image.format);
  const std::ptrdiff_t pitch = row + gap;
  OwnedView owned{std::move(name), {}, image};
  owned.bytes.assign(static_cast<std::size_t>(pitch) * image.size.height, 0xA5);
  for (int y = 0; y < image.size.height; ++y)
    std::memcpy(owned.bytes.data() + (upwards ? image.size.height - 1 - y : y) * pitch,
                static_cast<const std::uint8_t*>(image.pixels) + y * image.pitch,
                static_cast<std::size_t>(row));
  owned.view.pixels = owned.bytes.data() + (upwards ? (image.size.height - 1) * pitch : 0);
  owned.view.pitch = upwards ? -pitch : pitch;
  return owned;
}

// A colour picture, and the same with a fourth byte, in all layouts.
inline std::vector<OwnedView> all_layouts(View<const Bgr> colour) {
  Image<Bgra> wide(colour.size);
  for (int y = 0; y < colour.size.height; ++y)
    for (int x = 0; x < colour.size.width; ++x) {
      const auto [b, g, r] = colour.row(y)[x];
      wide.row(y)[x] = {b, g, r, static_cast<std::uint8_t>(x + y)};
    }
  const ImageView bgra{.pixels = wide.view().data,
                       .size = colour.size,
                       .pitch = wide.view().pitch * 4,
                       .format = PixelFormat::bgra};
  std::vector<OwnedView> all;
  for (const int gap : {0, 1, 2, 3, 64})
    for (const bool upwards : {false, true}) {
      const std::string layout =
          " with a gap of " + std::to_string(gap) + (upwards ? ", upwards" : "");
      all.push_back(laid_out(image_view(colour), gap, upwards, "BGR" + layout));
      all.push_back(laid_out(bgra, gap, upwards, "BGRA" + layout));
    }
  return all;
}

}  // namespace facesat::test
