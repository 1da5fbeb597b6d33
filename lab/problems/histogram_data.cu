// The floor of integral histograms, which reads each pixel once and writes each element of all
// tables once; and the kernel that checks them.
#include <algorithm>

#include "kernels/device/platform.hpp"
#include "lab/problems/histogram.hpp"

namespace facesat::gpu {
namespace {

constexpr int block_width = 64, block_height = 4;  // threads
constexpr int elements = 4;                        // of a row, per thread and table

struct alignas(4) Pixels {
  std::uint8_t v[elements];
};
struct alignas(16) Counts {
  std::uint32_t v[elements];
};

__global__ void floor_kernel(View<const std::uint8_t> picture, IntegralHistogram tables) {
  const int x = elements * static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  if (x >= picture.size.width || y >= picture.size.height) return;
  const int count = picture.size.width - x;
  Pixels pixels{};
  if (count >= elements)
    pixels = *reinterpret_cast<const Pixels*>(picture.row(y) + x);
  else
    for (int i = 0; i < count; ++i) pixels.v[i] = picture.row(y)[x + i];
  for (int bin = 0; bin < tables.bins; ++bin) {
    Counts counts;
    FACESAT_UNROLL
    for (int i = 0; i < elements; ++i) counts.v[i] = bin_of(pixels.v[i], tables.bins) == bin;
    std::uint32_t* const to = tables.row(bin, y) + x;
    if (count >= elements)
      *reinterpret_cast<Counts*>(to) = counts;
    else
      for (int i = 0; i < count; ++i) to[i] = counts.v[i];
  }
}

__global__ void check_kernel(View<const std::uint8_t> picture, IntegralHistogram tables,
                             unsigned* wrong) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int bin = static_cast<int>(blockIdx.z);
  if (x >= picture.size.width) return;
  for (int y = static_cast<int>(blockIdx.y); y < picture.size.height;
       y += static_cast<int>(gridDim.y))
    if (tables.row(bin, y)[x] != expected_count(picture, tables, bin, x, y)) atomicAdd(wrong, 1u);
}

}  // namespace

void enqueue_floor(View<const std::uint8_t> picture, const IntegralHistogram& tables,
                   StreamHandle stream) {
  const dim3 grid(static_cast<unsigned>(divide_up(picture.size.width, elements * block_width)),
                  static_cast<unsigned>(divide_up(picture.size.height, block_height)));
  FACESAT_LAUNCH(floor_kernel, grid, dim3(block_width, block_height), stream, picture, tables);
}

void enqueue_check(View<const std::uint8_t> picture, const IntegralHistogram& tables,
                   unsigned* wrong, StreamHandle stream) {
  const dim3 grid(static_cast<unsigned>(divide_up(picture.size.width, 256)),
                  static_cast<unsigned>(std::min(picture.size.height, on_host ? 2 : 1024)),
                  static_cast<unsigned>(tables.bins));
  FACESAT_LAUNCH(check_kernel, grid, dim3(256), stream, picture, tables, wrong);
}

}  // namespace facesat::gpu
