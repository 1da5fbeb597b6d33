#include "app/evaluate/crops.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <span>

#include <tbb/parallel_for_each.h>

#include "core/crop.hpp"
#include "media/codec.hpp"
#include "support/errors.hpp"

namespace facesat::app {
namespace {

std::string base64(std::span<const unsigned char> bytes) {
  constexpr std::string_view letters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t bits = 0;
    for (std::size_t k = 0; k < 3; ++k) bits = bits << 8 | (k < count ? bytes[i + k] : 0u);
    for (std::size_t k = 0; k < 4; ++k)
      text += k <= count ? letters[bits >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

Cut cut_of(View<const Bgr> picture, const Rect& box, int longest) {
  CropOptions options{.margin = 0.5, .size = {}};
  const Rect region = crop_region(box, options);
  const double scale =
      std::min(1.0, static_cast<double>(longest) / std::max(region.width, region.height));
  const auto scaled = [scale](int length) {
    return std::max(1, static_cast<int>(std::lround(scale * length)));
  };
  options.size = {scaled(region.width), scaled(region.height)};
  const Image<Bgr> cut = crop(picture, box, options);
  return {"data:image/jpeg;base64," + base64(encode_picture(cut.view(), ".jpg")), cut.size()};
}

}  // namespace

std::vector<Cut> cut_out(const std::vector<TestPicture>& pictures,
                         const std::vector<CutOut>& cut_outs, int longest) {
  std::map<std::size_t, std::vector<std::size_t>> by_picture;
  for (std::size_t i = 0; i < cut_outs.size(); ++i) by_picture[cut_outs[i].picture].push_back(i);
  std::vector<Cut> cuts(cut_outs.size());
  tbb::parallel_for_each(by_picture, [&](const auto& one) {
    try {
      const Picture picture = in_colour(read_picture(pictures[one.first].open()));
      for (const std::size_t i : one.second)
        cuts[i] = cut_of(picture.pixels, cut_outs[i].box, longest);
    } catch (const Error&) {  // it is gone, or there is too little memory
    }
  });
  return cuts;
}

}  // namespace facesat::app
