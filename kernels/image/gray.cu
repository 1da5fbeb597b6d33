// Grey: reads three or four bytes per pixel and writes one, so memory sets the speed. A thread
// takes four pixels: then all its accesses are whole words, and those of a warp cover whole cache
// lines.
//
// Equalisation: two launches. In the first, blocks count the values in shared memory and add their
// counts to the workspace. In the second, each block derives the map from old to new values from
// the total counts, which is cheaper than a separate launch, and applies the map.
#include <cstddef>

#include "core/rules.hpp"
#include "kernels/device/platform.hpp"
#include "kernels/device/warp.cuh"
#include "kernels/image/steps.hpp"

namespace facesat::gpu {
namespace {

// ---- grey ----

__device__ __forceinline__ unsigned luma(unsigned b, unsigned g, unsigned r) {
  return rules::gray_of(b, g, r);
}

__device__ __forceinline__ unsigned byte_of(unsigned word, int i) {
  return word >> (8 * i) & 0xFF;
}

// Four pixels.
template <class Pixel>
__device__ __forceinline__ unsigned four_gray(const unsigned* from) {
  unsigned words[sizeof(Pixel)], gray = 0;
  FACESAT_UNROLL
  for (int i = 0; i < static_cast<int>(sizeof(Pixel)); ++i) words[i] = from[i];
  FACESAT_UNROLL
  for (int i = 0; i < 4; ++i) {
    const auto channel = [&](std::size_t offset) {
      const int byte = i * static_cast<int>(sizeof(Pixel)) + static_cast<int>(offset);
      return byte_of(words[byte / 4], byte % 4);
    };
    gray |=
        luma(channel(offsetof(Pixel, b)), channel(offsetof(Pixel, g)), channel(offsetof(Pixel, r)))
        << 8 * i;
  }
  return gray;
}

// `words` is the number of words that a row of the grey image takes; pitches are in words, too.
template <class Pixel>
__global__ void gray_kernel(const unsigned* __restrict__ frame, int frame_words,
                            unsigned* __restrict__ gray, int gray_words, int words, int height) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  if (x >= words || y >= height) return;
  constexpr int words_of_four = sizeof(Pixel);
  gray[static_cast<std::ptrdiff_t>(y) * gray_words + x] =
      four_gray<Pixel>(frame + static_cast<std::ptrdiff_t>(y) * frame_words + words_of_four * x);
}

template <class Pixel>
void enqueue(View<const Pixel> frame, View<std::uint8_t> gray, StreamHandle stream) {
  const int words = (frame.size.width + 3) / 4;
  const dim3 block(64, 4);
  const dim3 grid((words + block.x - 1) / block.x, (frame.size.height + block.y - 1) / block.y);
  FACESAT_LAUNCH(
      gray_kernel<Pixel>, grid, block, stream, reinterpret_cast<const unsigned*>(frame.data),
      static_cast<int>(frame.pitch * sizeof(Pixel) / 4), reinterpret_cast<unsigned*>(gray.data),
      static_cast<int>(gray.pitch / 4), words, frame.size.height);
}

// ---- equalisation ----

constexpr int values = 256, threads = values, rows_per_block = 8;  // one thread per value

__global__ void count_values_kernel(View<std::uint8_t> gray, std::uint32_t* histogram) {
  __shared__ SharedArray<unsigned, values> counts;
  const int thread = static_cast<int>(threadIdx.x);
  counts[thread] = 0;
  __syncthreads();
  const int first = static_cast<int>(blockIdx.x) * rows_per_block;
  for (int y = first; y < min(first + rows_per_block, gray.size.height); ++y)
    for (int x = thread; x < gray.size.width; x += threads) atomic_add(counts, gray.row(y)[x], 1);
  __syncthreads();
  if (counts[thread] > 0) atomicAdd(histogram + thread, static_cast<std::uint32_t>(counts[thread]));
}

__global__ void apply_map_kernel(View<std::uint8_t> gray, std::uint32_t* histogram,
                                 unsigned* finished) {
  __shared__ SharedArray<std::uint32_t, values / 32> warp_sums;
  __shared__ SharedArray<std::uint32_t, values / 32> warp_darkest;
  __shared__ SharedArray<std::uint8_t, values> map;
  const int thread = static_cast<int>(threadIdx.x), warp = thread / 32;
  const std::uint32_t count = histogram[thread];
  const std::uint32_t scan = warp_inclusive_scan(count);
  const unsigned present = __ballot_sync(full_warp, count > 0);
  if (thread % 32 == 31) {
    warp_sums[warp] = scan;
    warp_darkest[warp] = static_cast<std::uint32_t>(
        present != 0 ? warp * 32 + __ffs(static_cast<int>(present)) - 1 : values);
  }
  __syncthreads();
  std::uint32_t up_to_here = scan;
  int darkest = values;
  for (int w = 0; w < values / 32; ++w) {
    if (w < warp) up_to_here += warp_sums[w];
    darkest = min(darkest, static_cast<int>(warp_darkest[w]));
  }
  const std::uint32_t darkest_count = histogram[darkest];
  map[thread] = rules::equalized(thread, up_to_here, darkest, darkest_count, gray.size.area());
  __syncthreads();
  const int first = static_cast<int>(blockIdx.x) * rows_per_block;
  for (int y = first; y < min(first + rows_per_block, gray.size.height); ++y)
    for (int x = thread; x < gray.size.width; x += threads) gray.row(y)[x] = map[gray.row(y)[x]];

  // The last block to finish clears the workspace for the next frame.
  __shared__ SharedArray<unsigned, 1> is_last;
  __syncthreads();
  if (thread == 0) is_last[0] = atomicAdd(finished, 1u) + 1 == gridDim.x;
  __syncthreads();
  if (is_last[0] == 0) return;
  histogram[thread] = 0;
  if (thread == 0) *finished = 0;
}

}  // namespace

void enqueue_gray(View<const Bgr> frame, View<std::uint8_t> gray, StreamHandle stream) {
  enqueue(frame, gray, stream);
}
void enqueue_gray(View<const Rgb> frame, View<std::uint8_t> gray, StreamHandle stream) {
  enqueue(frame, gray, stream);
}
void enqueue_gray(View<const Bgra> frame, View<std::uint8_t> gray, StreamHandle stream) {
  enqueue(frame, gray, stream);
}

void enqueue_equalize(View<std::uint8_t> gray, std::uint32_t* workspace, StreamHandle stream) {
  const dim3 grid(divide_up(gray.size.height, rows_per_block));
  FACESAT_LAUNCH(count_values_kernel, grid, dim3(threads), stream, gray, workspace);
  FACESAT_LAUNCH(apply_map_kernel, grid, dim3(threads), stream, gray, workspace,
                 workspace + values);
}

}  // namespace facesat::gpu
