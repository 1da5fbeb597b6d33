#include "results/blur.hpp"

#include <algorithm>
#include <utility>

#include "core/crop.hpp"
#include "core/resample.hpp"

namespace facesat {
namespace {

constexpr double margin = 0.25;
constexpr Size cell_count{4, 4};

// Enlarged smoothly. Bilinear enlargement at once would show the cells as a pattern of ramps; done
// again and again by 2, it nears a quadratic spline.
Image<Bgr> smooth(Image<Bgr> cells, Size size) {
  const auto enlarged = [](const Image<Bgr>& picture, Size to) {
    return resampled(picture.view(), {0, 0, picture.size().width, picture.size().height}, to);
  };
  while (2 * cells.size().width < size.width && 2 * cells.size().height < size.height)
    cells = enlarged(cells, {2 * cells.size().width, 2 * cells.size().height});
  return enlarged(cells, size);
}

// Puts `part` into the picture, its top left corner at (x, y), as far as it lies within it.
void put(View<const Bgr> part, View<Bgr> picture, int x, int y) {
  const int left = std::max(0, -x), top = std::max(0, -y),
            right = std::min(part.size.width, picture.size.width - x),
            bottom = std::min(part.size.height, picture.size.height - y);
  for (int row = top; row < bottom; ++row)
    std::copy(part.row(row) + left, part.row(row) + right, picture.row(y + row) + x + left);
}

}  // namespace

Image<Bgr> with_blurred(View<const Bgr> picture, const std::vector<Face>& faces, BlurStyle style) {
  Image<Bgr> result(picture.size);
  copy(picture, result.view());
  for (const Face& face : faces) {
    const Rect region = crop_region(face.box, {.margin = margin, .size = {}});
    const Size size{region.width, region.height};
    Image<Bgr> cells = resampled(result.view(), region, cell_count);
    const Image<Bgr> part =
        style == BlurStyle::blur
            ? smooth(std::move(cells), size)
            : resampled(cells.view(), {0, 0, cell_count.width, cell_count.height}, size,
                        Enlarging::blocks);
    put(part.view(), result.view(), region.x, region.y);
  }
  return result;
}

}  // namespace facesat
