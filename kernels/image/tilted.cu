// C(x, y), the sum of the cone that opens upwards from pixel (x, y), is computed from the sums
// along its two sides:
//   C(x, y) = sum over y' <= y of D(x, y'),  D = L + R - p,
// where p is the pixel, and L and R are the sums along the diagonals that end in it, from the upper
// left and from the upper right. So there are three scans, along lines of slope +1, -1 and 0; a
// block scans 32 adjacent lines, 128 rows at a time. Only few cascades have tilted features, so
// these kernels are simple rather than fast.
#include "kernels/device/platform.hpp"
#include "kernels/image/steps.hpp"

namespace facesat::gpu {
namespace {

constexpr int lines = 32, warps = 32, rows_per_thread = 4, rows_per_step = warps * rows_per_thread;

// Line u has the elements (u + slope * y, y). Slope 1 writes L into the table, slope -1 adds R - p,
// and slope 0 sums up the table's columns.
template <int slope>
__global__ void __launch_bounds__(lines* warps)
    scan_lines_kernel(View<const std::uint8_t> picture, View<std::uint32_t> table, int first_line) {
  // For each warp and line, the sum of the warp's rows.
  __shared__ SharedArray<std::uint32_t, warps * lines> totals;
  const auto [width, height] = picture.size;
  const int lane = static_cast<int>(threadIdx.x), warp = static_cast<int>(threadIdx.y);
  const int block_line = first_line + static_cast<int>(blockIdx.x) * lines;
  const int line = block_line + lane;
  // The rows in which any line of the block is between column -1 and the last.
  int begin = 0, end = height;
  if (slope == 1) {
    begin = max(0, -1 - (block_line + lines - 1));
    end = min(height, width - block_line);
  } else if (slope == -1) {
    begin = max(0, block_line - (width - 1));
    end = min(height, block_line + lines + 1);
  }
  std::uint32_t carry = 0;
  for (; begin < end; begin += rows_per_step) {
    std::uint32_t own[rows_per_thread], running[rows_per_thread];
    for (int i = 0; i < rows_per_thread; ++i) {
      const int y = begin + warp * rows_per_thread + i, x = line + slope * y;
      own[i] = 0;
      if (y < end && x >= (slope == 0 ? -1 : 0) && x < width)
        own[i] = slope == 0 ? table.row(y)[x] : picture.row(y)[x];
      running[i] = own[i] + (i > 0 ? running[i - 1] : 0);
    }
    totals[warp * lines + lane] = running[rows_per_thread - 1];
    __syncthreads();
    std::uint32_t base = carry;
    for (int w = 0; w < warps; ++w) {
      const std::uint32_t total = totals[w * lines + lane];
      if (w < warp) base += total;
      carry += total;
    }
    for (int i = 0; i < rows_per_thread; ++i) {
      const int y = begin + warp * rows_per_thread + i, x = line + slope * y;
      if (y >= end || x < -1 || x >= width) continue;
      std::uint32_t* out = table.row(y) + x;
      if (slope == -1)
        *out += base + running[i] - own[i];
      else
        *out = base + running[i];
    }
    __syncthreads();  // the next rows overwrite the totals
  }
}

}  // namespace

void enqueue_tilted(View<const std::uint8_t> picture, View<std::uint32_t> tilted_sum,
                    StreamHandle stream) {
  const auto [width, height] = picture.size;
  const auto blocks = [](int line_count) { return dim3(divide_up(line_count, lines)); };
  const dim3 block(lines, warps);
  FACESAT_LAUNCH(scan_lines_kernel<1>, blocks(width + height), block, stream, picture, tilted_sum,
                 -height);
  FACESAT_LAUNCH(scan_lines_kernel<-1>, blocks(width + height), block, stream, picture, tilted_sum,
                 -1);
  FACESAT_LAUNCH(scan_lines_kernel<0>, blocks(width + 1), block, stream, picture, tilted_sum, -1);
}

}  // namespace facesat::gpu
