// Copies pictures and tables from the device, for snapshots. Each copy waits for the device.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/image.hpp"
#include "kernels/device/cuda.hpp"

namespace facesat::gpu {

// A picture in device memory, widened to 32 bits.
template <class T>
Image<std::uint32_t> downloaded(View<const T> from) {
  Image<T> picture(from.size);
  FACESAT_CUDA(cudaMemcpy2D(picture.view().data, picture.view().pitch * sizeof(T), from.data,
                            from.pitch * sizeof(T), from.size.width * sizeof(T), from.size.height,
                            cudaMemcpyDeviceToHost));
  Image<std::uint32_t> widened(from.size);
  for (int y = 0; y < from.size.height; ++y)
    std::copy_n(picture.row(y), from.size.width, widened.row(y));
  return widened;
}

// The integral image of one level alone, from that of the atlas: the sums left of `place` and above
// it are subtracted. `table` has a row and a column of readable elements before its first.
inline Image<std::uint32_t> downloaded_part(View<const std::uint32_t> table, const Rect& place) {
  const Size with_border{place.width + 1, place.height + 1};
  const Image<std::uint32_t> sums =
      downloaded<std::uint32_t>({table.row(place.y - 1) + place.x - 1, with_border, table.pitch});
  Image<std::uint32_t> own({place.width, place.height});
  for (int y = 0; y < place.height; ++y)
    for (int x = 0; x < place.width; ++x)
      own.row(y)[x] =
          sums.row(y + 1)[x + 1] - sums.row(y + 1)[0] - sums.row(0)[x + 1] + sums.row(0)[0];
  return own;
}

}  // namespace facesat::gpu
