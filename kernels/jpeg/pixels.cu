// From the coefficients of a JPEG's blocks to pixels: dequantisation and inverse DCT, upsampling of
// chroma, conversion of colours.
//
// All of it is integer arithmetic, and libjpeg-turbo's: its "slow" inverse DCT, as its vector code
// computes it (16-bit sums that wrap around, results that saturate: that matters only for damaged
// files), its "fancy" upsampling with triangular weights, and its weights of colours.
// Cost: coefficients are read once, samples written and read once or, by neighbours, from the
//   cache; memory sets the speed.
// Source: libjpeg-turbo's results; the inverse DCT is that of C. Loeffler, A. Ligtenberg, G. S.
//   Moschytz, "Practical Fast 1-D DCT Algorithms with 11 Multiplications", ICASSP 1989.
#include "core/orientation.hpp"
#include "kernels/device/platform.hpp"
#include "kernels/jpeg/decode.hpp"

namespace facesat::gpu {
namespace {

// ---- inverse DCT

constexpr int side = 8, together = 32;  // blocks of pixels per block of threads

__constant__ const std::uint8_t natural_order[pixels_of_block] = {
    0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,  12, 19, 26, 33, 40, 48,
    41, 34, 27, 20, 13, 6,  7,  14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23,
    30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};

__device__ __forceinline__ int wrapped(int value) {
  return static_cast<std::int16_t>(value);
}
__device__ __forceinline__ int saturated(int value) {
  return min(max(value, INT16_MIN), INT16_MAX);
}

// The inverse DCT of eight numbers of 16 bits, in place; results are divided by 2^shift. Sums of 32
// bits wrap around.
template <int shift>
__device__ __forceinline__ void inverse_dct(int (&x)[side]) {
  constexpr int fraction_bits = 13;
  constexpr unsigned half = 1u << (shift - 1);
  // Weights with 13 fraction bits.
  constexpr int w0_298 = 2446, w0_390 = 3196, w0_541 = 4433, w0_765 = 6270, w0_899 = 7373,
                w1_175 = 9633, w1_501 = 12299, w1_847 = 15137, w1_961 = 16069, w2_053 = 16819,
                w2_562 = 20995, w3_072 = 25172;
  const auto times = [](int value, int weight) {
    return static_cast<unsigned>(value) * static_cast<unsigned>(weight);
  };
  const unsigned even2 = times(x[2], w0_541) + times(x[6], w0_541 - w1_847);
  const unsigned even3 = times(x[2], w0_541 + w0_765) + times(x[6], w0_541);
  const unsigned even0 = times(wrapped(x[0] + x[4]), 1 << fraction_bits);
  const unsigned even1 = times(wrapped(x[0] - x[4]), 1 << fraction_bits);
  const unsigned a[4] = {even0 + even3, even1 + even2, even1 - even2, even0 - even3};
  const int z3 = wrapped(x[7] + x[3]), z4 = wrapped(x[5] + x[1]);
  const unsigned odd3 = times(z3, w1_175 - w1_961) + times(z4, w1_175);
  const unsigned odd4 = times(z3, w1_175) + times(z4, w1_175 - w0_390);
  const unsigned b[4] = {times(x[1], w1_501 - w0_899) + times(x[7], -w0_899) + odd4,
                         times(x[3], w3_072 - w2_562) + times(x[5], -w2_562) + odd3,
                         times(x[5], w2_053 - w2_562) + times(x[3], -w2_562) + odd4,
                         times(x[7], w0_298 - w0_899) + times(x[1], -w0_899) + odd3};
  FACESAT_UNROLL
  for (int i = 0; i < 4; ++i) {
    x[i] = saturated(static_cast<int>(a[i] + b[i] + half) >> shift);
    x[side - 1 - i] = saturated(static_cast<int>(a[i] - b[i] + half) >> shift);
  }
}

// A group of eight lanes computes a block: first columns, then rows. A row of the grid has the
// blocks of a component.
__global__ void inverse_dct_kernel(JpegTask task) {
  const JpegComponent& component = task.header->components[blockIdx.y];
  // A word more than a block, so that the groups of a warp read rows from different banks.
  constexpr int stride = pixels_of_block + 2;
  __shared__ SharedArray<std::int16_t, together * stride> all;
  __shared__ SharedArray<std::uint16_t, pixels_of_block> quantisers;
  __shared__ SharedArray<std::uint8_t, pixels_of_block> order;
  const int thread = static_cast<int>(threadIdx.x), lane = thread % side, group = thread / side;
  if (thread < pixels_of_block) {
    quantisers[thread] = component.quantisers[thread];
    order[thread] = natural_order[thread];
  }
  const int number = static_cast<int>(blockIdx.x) * together + group;
  const bool is_there = number < component.blocks.width * component.blocks.height;
  if (__syncthreads_or(is_there) == 0) return;
  const int own = group * stride;
  bool is_varied = false;  // are there coefficients below the first row?
  if (is_there) {
    const std::int16_t* const from =
        task.coefficients +
        static_cast<std::size_t>(component.first_block + number) * pixels_of_block + side * lane;
    const uint4 eight = *reinterpret_cast<const uint4*>(from);
    const unsigned words[4] = {eight.x, eight.y, eight.z, eight.w};
    FACESAT_UNROLL
    for (int i = 0; i < side; ++i) {
      const int k = side * lane + i;
      const auto coefficient = static_cast<std::int16_t>(words[i / 2] >> (i % 2 * 16));
      all[own + order[k]] = static_cast<std::int16_t>(coefficient * quantisers[k]);
      is_varied |= coefficient != 0 && order[k] >= side;
    }
  }
  __syncwarp();
  int x[side]{};
  if (is_there) {
    FACESAT_UNROLL
    for (int i = 0; i < side; ++i) x[i] = all[own + side * i + lane];
  }
  const unsigned varied =
      __ballot_sync(0xFFFFFFFFu, is_varied) >> (thread % 32 / side * side) & 255;
  if (is_there) {
    constexpr int pass_bits = 2;
    if (varied != 0) {
      inverse_dct<13 - pass_bits>(x);
    } else {  // libjpeg-turbo's shortcut, which does not saturate
      const int same = wrapped(x[0] * (1 << pass_bits));
      FACESAT_UNROLL
      for (int i = 0; i < side; ++i) x[i] = same;
    }
  }
  __syncwarp();
  if (is_there) {
    FACESAT_UNROLL
    for (int i = 0; i < side; ++i) all[own + side * i + lane] = static_cast<std::int16_t>(x[i]);
  }
  __syncwarp();
  if (!is_there) return;
  FACESAT_UNROLL
  for (int i = 0; i < side; ++i) x[i] = all[own + side * lane + i];
  inverse_dct<13 + 2 + 3>(x);
  unsigned words[2] = {0, 0};
  FACESAT_UNROLL
  for (int i = 0; i < side; ++i) {
    const int sample = min(max(x[i], -128), 127) + 128;
    words[i / 4] |= static_cast<unsigned>(sample) << (i % 4 * 8);
  }
  const int column = number % component.blocks.width, row = number / component.blocks.width;
  std::uint8_t* const to =
      task.samples + static_cast<std::size_t>(component.first_block) * pixels_of_block +
      (static_cast<std::size_t>(row) * side + lane) * component.blocks.width * side + column * side;
  *reinterpret_cast<uint2*>(to) = {words[0], words[1]};
}

// ---- upsampling

// The samples of a component, without those beyond the image.
struct Plane {
  const std::uint8_t* samples;
  int pitch;
  Size size;

  __device__ __forceinline__ int at(int x, int y) const {
    return samples[static_cast<std::size_t>(y) * pitch + x];
  }
};

__device__ __forceinline__ Plane plane_of(const JpegTask& task, const JpegComponent& component) {
  return {task.samples + static_cast<std::size_t>(component.first_block) * pixels_of_block,
          component.blocks.width * side, component.size};
}

// The row next to that of a pixel's sample, on the pixel's side; at the edge, the same row.
__device__ __forceinline__ int next_row(const Plane& plane, int y) {
  return min(max(y / 2 + (y % 2 == 0 ? -1 : 1), 0), plane.size.height - 1);
}

// The sample of chroma at a pixel, where luma has h x v samples for each of chroma.
template <int h, int v>
__device__ __forceinline__ int upsampled(const Plane& plane, int x, int y) {
  const int column = x / h, row = y / v;
  const int side_of_x = x % 2 == 0 ? -1 : 1, beside = column + side_of_x;
  // libjpeg-turbo has weights across only from three columns on.
  const bool is_wide = plane.size.width > 2, is_edge = beside < 0 || beside >= plane.size.width;
  if constexpr (h == 2 && v == 1) {
    if (!is_wide || is_edge) return plane.at(column, row);
    return (3 * plane.at(column, row) + plane.at(beside, row) + (side_of_x < 0 ? 1 : 2)) >> 2;
  } else if constexpr (h == 1 && v == 2) {
    return (3 * plane.at(column, row) + plane.at(column, next_row(plane, y)) +
            (y % 2 == 0 ? 1 : 2)) >>
           2;
  } else if constexpr (h == 2 && v == 2) {
    if (!is_wide) return plane.at(column, row);
    const int other = next_row(plane, y);
    const auto sum = [&](int i) { return 3 * plane.at(i, row) + plane.at(i, other); };
    return (3 * sum(column) + sum(is_edge ? column : beside) + (side_of_x < 0 ? 8 : 7)) >> 4;
  } else {
    return plane.at(column, row);
  }
}

// ---- colours

__device__ __forceinline__ std::uint8_t clamped(int value) {
  return static_cast<std::uint8_t>(min(max(value, 0), 255));
}

__device__ __forceinline__ Bgr bgr_of(int luma, int cb, int cr) {
  // Weights with 16 fraction bits.
  constexpr int half = 1 << 15, red_cr = 91881, green_cb = -22554, green_cr = -46802,
                blue_cb = 116130;
  cb -= 128;
  cr -= 128;
  return {clamped(luma + ((blue_cb * cb + half) >> 16)),
          clamped(luma + ((green_cb * cb + green_cr * cr + half) >> 16)),
          clamped(luma + ((red_cr * cr + half) >> 16))};
}

// The pixel of the result that a thread computes.
__device__ __forceinline__ PixelPlace own_place() {
  return {static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x),
          static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y)};
}

template <int h, int v>
__global__ void colour_kernel(JpegTask task, JpegComponent luma, JpegComponent cb, JpegComponent cr,
                              int orientation, View<Bgr> colour) {
  const PixelPlace to = own_place();
  if (to.x >= colour.size.width || to.y >= colour.size.height) return;
  const auto [x, y] = place_before(to.x, to.y, colour.size, orientation);
  colour.row(to.y)[to.x] =
      bgr_of(plane_of(task, luma).at(x, y), upsampled<h, v>(plane_of(task, cb), x, y),
             upsampled<h, v>(plane_of(task, cr), x, y));
}

__device__ __forceinline__ void set(std::uint8_t& pixel, int luma) {
  pixel = static_cast<std::uint8_t>(luma);
}
__device__ __forceinline__ void set(Bgr& pixel, int luma) {
  const auto same = static_cast<std::uint8_t>(luma);
  pixel = {same, same, same};
}

template <class Pixel>
__global__ void luma_kernel(JpegTask task, JpegComponent luma, int orientation, View<Pixel> grey) {
  const PixelPlace to = own_place();
  if (to.x >= grey.size.width || to.y >= grey.size.height) return;
  const auto [x, y] = place_before(to.x, to.y, grey.size, orientation);
  set(grey.row(to.y)[to.x], plane_of(task, luma).at(x, y));
}

// ---- launches

const dim3 tile(32, 8);  // of pixels, per block of threads

dim3 tiles_of(Size size) {
  return dim3(divide_up(size.width, 32), divide_up(size.height, 8));
}

// Of the first components.
void enqueue_inverse_dct(const JpegTask& task, const JpegHeader& header, int components,
                         StreamHandle stream) {
  const Size& most = header.components[0].blocks;
  const dim3 grid(divide_up(most.width * most.height, together), components);
  FACESAT_LAUNCH(inverse_dct_kernel, grid, dim3(together * side), stream, task);
}

template <class Pixel>
void enqueue_luma(const JpegTask& task, const JpegHeader& header, int orientation, View<Pixel> to,
                  StreamHandle stream) {
  FACESAT_LAUNCH(luma_kernel<Pixel>, tiles_of(to.size), tile, stream, task, header.components[0],
                 orientation, to);
}

template <int h, int v>
void enqueue_colour(const JpegTask& task, const JpegHeader& header, int orientation,
                    View<Bgr> colour, StreamHandle stream) {
  const auto& of = header.components;
  FACESAT_LAUNCH((colour_kernel<h, v>), tiles_of(colour.size), tile, stream, task, of[0], of[1],
                 of[2], orientation, colour);
}

}  // namespace

void enqueue_jpeg(const JpegTask& task, const JpegHeader& header, int orientation,
                  View<std::uint8_t> luma, StreamHandle stream) {
  enqueue_coefficients(task, header, stream);
  enqueue_inverse_dct(task, header, 1, stream);
  enqueue_luma(task, header, orientation, luma, stream);
}

void enqueue_jpeg(const JpegTask& task, const JpegHeader& header, int orientation, View<Bgr> colour,
                  StreamHandle stream) {
  enqueue_coefficients(task, header, stream);
  enqueue_inverse_dct(task, header, header.component_count, stream);
  const JpegComponent& luma = header.components[0];
  if (header.component_count == 1)
    enqueue_luma(task, header, orientation, colour, stream);
  else if (luma.h == 1 && luma.v == 1)
    enqueue_colour<1, 1>(task, header, orientation, colour, stream);
  else if (luma.h == 1)
    enqueue_colour<1, 2>(task, header, orientation, colour, stream);
  else if (luma.h == 4)
    enqueue_colour<4, 1>(task, header, orientation, colour, stream);
  else if (luma.v == 1)
    enqueue_colour<2, 1>(task, header, orientation, colour, stream);
  else
    enqueue_colour<2, 2>(task, header, orientation, colour, stream);
}

}  // namespace facesat::gpu
