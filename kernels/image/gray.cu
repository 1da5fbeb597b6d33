// Reads three or four bytes per pixel and writes one, so memory sets the speed. A thread takes four
// pixels: then all its accesses are whole words, and those of a warp cover whole cache lines.
#include "core/rules.hpp"
#include "kernels/device/platform.hpp"
#include "kernels/image/gray.hpp"

namespace facesat::gpu {
namespace {

__device__ __forceinline__ unsigned luma(unsigned b, unsigned g, unsigned r) {
  return rules::gray_of(b, g, r);
}

__device__ __forceinline__ unsigned byte_of(unsigned word, int i) {
  return word >> (8 * i) & 0xFF;
}

// Four pixels of three bytes: BGRB GRBG RBGR.
__device__ __forceinline__ unsigned four_gray(const Bgr*, const unsigned* from) {
  const unsigned a = from[0], b = from[1], c = from[2];
  return luma(byte_of(a, 0), byte_of(a, 1), byte_of(a, 2)) |
         luma(byte_of(a, 3), byte_of(b, 0), byte_of(b, 1)) << 8 |
         luma(byte_of(b, 2), byte_of(b, 3), byte_of(c, 0)) << 16 |
         luma(byte_of(c, 1), byte_of(c, 2), byte_of(c, 3)) << 24;
}

// Four pixels of four bytes.
__device__ __forceinline__ unsigned four_gray(const Bgra*, const unsigned* from) {
  unsigned gray = 0;
  for (int i = 0; i < 4; ++i)
    gray |= luma(byte_of(from[i], 0), byte_of(from[i], 1), byte_of(from[i], 2)) << (8 * i);
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
      four_gray(static_cast<const Pixel*>(nullptr),
                frame + static_cast<std::ptrdiff_t>(y) * frame_words + words_of_four * x);
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

}  // namespace

void enqueue_gray(View<const Bgr> frame, View<std::uint8_t> gray, StreamHandle stream) {
  enqueue(frame, gray, stream);
}
void enqueue_gray(View<const Bgra> frame, View<std::uint8_t> gray, StreamHandle stream) {
  enqueue(frame, gray, stream);
}

}  // namespace facesat::gpu
