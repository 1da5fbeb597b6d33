// A thread computes four rows of four neighbours and stores each row as one word; a block computes
// a tile of one level, and tiles are numbered over all levels. Levels are smaller than the image,
// and neighbours share source pixels, so most loads hit the cache. What takes the time is the
// number of loads and instructions, and waiting:
// - Up to a scale of 2, the source pixels of four neighbours lie within 8 bytes of a row, which are
//   loaded as three aligned words instead of eight single bytes, and interpolated by products of
//   two pixels with two weights (__dp2a).
// - There are no branches between the loads of a thread, so that all of them are under way at once.
// - Loads of the smallest levels hit the cache least and take longest, so these levels come first.
// Two more ideas changed nothing: to keep the lower source row where it is the upper one of the
// next row, and, at larger scales, to give a thread pixels 32 apart, so that a warp's loads lie
// closer together.
#include <algorithm>

#include "kernels/device/platform.hpp"
#include "kernels/image/steps.hpp"

namespace facesat::gpu {
namespace {

constexpr int lanes = 32, warps_per_block = 4;
constexpr int tile_width = 4 * lanes, tile_height = 4 * warps_per_block;
constexpr int weight_bits = 9;  // of a PackedTap: weights go up to 256

constexpr int source_of(PackedTap tap) {
  return static_cast<int>(tap >> weight_bits);
}
constexpr unsigned second_weight_of(PackedTap tap) {
  return tap & ((1u << weight_bits) - 1);
}

// Both weights, 16 bits each; that of the first pixel is in the lower half.
constexpr unsigned weights_of(PackedTap tap) {
  const unsigned second = second_weight_of(tap);
  return second << 16 | (256 - second);
}

// Four neighbours, interpolated horizontally: 256 times their values.
struct Neighbours {
  unsigned v[4];
};

// Where four neighbours lie in any row, if their source pixels lie within 8 bytes.
class CloseColumns {
 public:
  static constexpr int bytes = 8;

  __device__ CloseColumns(const std::uint8_t* gray, const FourTaps& taps) {
    const int first = source_of(taps.of[0]);
    words_ = gray + (first & ~3);
    shift_ = static_cast<unsigned>(first & 3) * 8;
    unsigned pairs[4];  // where the two source pixels of a result pixel lie, for __byte_perm
    FACESAT_UNROLL
    for (int i = 0; i < 4; ++i) {
      const unsigned left = static_cast<unsigned>(source_of(taps.of[i]) - first);
      pairs[i] = left | (left + 1) << 4;
      weights_[i] = weights_of(taps.of[i]);
    }
    first_two_ = pairs[0] | pairs[1] << 8;
    last_two_ = pairs[2] | pairs[3] << 8;
  }

  // In the row that begins `offset` bytes after the first.
  __device__ __forceinline__ Neighbours in_row_at(std::ptrdiff_t offset) const {
    const auto* words = reinterpret_cast<const unsigned*>(words_ + offset);
    const unsigned a = words[0], b = words[1], c = words[2];
    const unsigned low = __funnelshift_r(a, b, shift_), high = __funnelshift_r(b, c, shift_);
    const unsigned first_two = __byte_perm(low, high, first_two_);
    const unsigned last_two = __byte_perm(low, high, last_two_);
    return {{__dp2a_lo(weights_[0], first_two, 0u), __dp2a_hi(weights_[1], first_two, 0u),
             __dp2a_lo(weights_[2], last_two, 0u), __dp2a_hi(weights_[3], last_two, 0u)}};
  }

 private:
  const std::uint8_t* words_;      // the three aligned words of the first row with the 8 bytes
  unsigned shift_;                 // of the 8 bytes in these words, in bits
  unsigned first_two_, last_two_;  // which of the 8 bytes belong to these neighbours
  unsigned weights_[4];
};

// The same for any scale.
class FarColumns {
 public:
  __device__ FarColumns(const std::uint8_t* gray, const FourTaps& taps) {
    FACESAT_UNROLL
    for (int i = 0; i < 4; ++i) {
      left_[i] = gray + source_of(taps.of[i]);
      right_weight_[i] = second_weight_of(taps.of[i]);
    }
  }

  __device__ __forceinline__ Neighbours in_row_at(std::ptrdiff_t offset) const {
    Neighbours neighbours;
    FACESAT_UNROLL
    for (int i = 0; i < 4; ++i) {
      const std::uint8_t* left = left_[i] + offset;
      neighbours.v[i] = (256 - right_weight_[i]) * left[0] + right_weight_[i] * left[1];
    }
    return neighbours;
  }

 private:
  const std::uint8_t* left_[4];  // source pixels in the first row
  unsigned right_weight_[4];
};

// Interpolates between two rows and rounds. Four pixels in one word.
__device__ __forceinline__ unsigned between(const Neighbours& upper, const Neighbours& lower,
                                            unsigned lower_weight) {
  unsigned sums[4];  // 65536 times the pixels
  FACESAT_UNROLL
  for (int i = 0; i < 4; ++i)
    sums[i] = (256 - lower_weight) * upper.v[i] + lower_weight * lower.v[i] + 32768;
  return __byte_perm(__byte_perm(sums[0], sums[1], 0x0062), __byte_perm(sums[2], sums[3], 0x0062),
                     0x5410);
}

// Four rows, of which `count` are stored.
template <class Columns>
__device__ __forceinline__ void resize_rows(const Columns& columns, const FourTaps& rows,
                                            int last_row, int pitch, std::uint8_t* to, int to_pitch,
                                            int count) {
  unsigned pixels[4];
  FACESAT_UNROLL
  for (int i = 0; i < 4; ++i) {
    const int upper = source_of(rows.of[i]), lower = min(upper + 1, last_row);
    pixels[i] = between(columns.in_row_at(static_cast<std::ptrdiff_t>(upper) * pitch),
                        columns.in_row_at(static_cast<std::ptrdiff_t>(lower) * pitch),
                        second_weight_of(rows.of[i]));
  }
  FACESAT_UNROLL
  for (int i = 0; i < 4; ++i, to += to_pitch)
    if (i < count) *reinterpret_cast<unsigned*>(to) = pixels[i];
}

__global__ void resize_kernel(const std::uint8_t* __restrict__ gray, int pitch, int last_row,
                              std::uint8_t* __restrict__ atlas, int atlas_pitch,
                              const DeviceResizePlan plan) {
  const ResizeTile tile = plan.tiles[blockIdx.x];
  const ResizeLevel level = plan.levels[tile.level];
  const int x = tile.column * tile_width + 4 * static_cast<int>(threadIdx.x);
  const int y = tile.row * tile_height + 4 * static_cast<int>(threadIdx.y);
  if (x >= level.width || y >= level.height) return;
  const FourTaps columns = plan.taps[level.column_taps + x / 4];
  const FourTaps rows = plan.taps[level.row_taps + y / 4];
  std::uint8_t* to = atlas + static_cast<std::ptrdiff_t>(level.y + y) * atlas_pitch + level.x + x;
  const int count = level.height - y;
  if (level.has_close_columns)
    resize_rows(CloseColumns(gray, columns), rows, last_row, pitch, to, atlas_pitch, count);
  else
    resize_rows(FarColumns(gray, columns), rows, last_row, pitch, to, atlas_pitch, count);
}

std::vector<FourTaps> packed_taps(int source, int length) {
  const std::vector<ResizeTap> taps = resize_taps(source, length);
  std::vector<FourTaps> packed(divide_up(length, 4));
  for (int i = 0; i < static_cast<int>(packed.size()) * 4; ++i) {
    const ResizeTap& tap = taps[std::min(i, length - 1)];
    packed[i / 4].of[i % 4] = static_cast<PackedTap>(tap.first) << weight_bits | tap.second_weight;
  }
  return packed;
}

bool are_close(const std::vector<FourTaps>& columns) {
  return std::all_of(columns.begin(), columns.end(), [](const FourTaps& taps) {
    return source_of(taps.of[3]) - source_of(taps.of[0]) + 1 < CloseColumns::bytes;
  });
}

int append(std::vector<FourTaps>& all, const std::vector<FourTaps>& taps) {
  const int first = static_cast<int>(all.size());
  all.insert(all.end(), taps.begin(), taps.end());
  return first;
}

}  // namespace

ResizePlan plan_resize(const Pyramid& pyramid, const AtlasPlan& atlas, const LevelGroup& group) {
  ResizePlan plan;
  for (int i = group.first; i < group.first + group.count; ++i) {
    const Rect place = atlas.rectangle(pyramid, i);
    const std::vector<FourTaps> columns = packed_taps(pyramid.image.width, place.width);
    const std::vector<FourTaps> rows = packed_taps(pyramid.image.height, place.height);
    plan.levels.push_back({place.x, place.y, place.width, place.height, append(plan.taps, columns),
                           append(plan.taps, rows), are_close(columns)});
  }
  for (int i = group.count - 1; i >= 0; --i)
    for (int row = 0; row * tile_height < plan.levels[i].height; ++row)
      for (int column = 0; column * tile_width < plan.levels[i].width; ++column)
        plan.tiles.push_back(
            {i, static_cast<std::uint16_t>(column), static_cast<std::uint16_t>(row)});
  return plan;
}

void enqueue_resize(View<const std::uint8_t> gray, View<std::uint8_t> atlas,
                    const DeviceResizePlan& plan, StreamHandle stream) {
  FACESAT_LAUNCH(resize_kernel, dim3(plan.tile_count), dim3(lanes, warps_per_block), stream,
                 gray.data, static_cast<int>(gray.pitch), gray.size.height - 1, atlas.data,
                 static_cast<int>(atlas.pitch), plan);
}

}  // namespace facesat::gpu
