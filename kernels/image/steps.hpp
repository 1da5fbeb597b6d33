// What turns a frame into pyramids and tables on the device, besides kernels/sat: to grey,
// equalised and resized pictures, and to tilted integral images.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/image.hpp"
#include "kernels/device/stream.hpp"
#include "kernels/image/atlas.hpp"

namespace facesat::gpu {

// OpenCV's COLOR_BGR2GRAY for 8 bits (see core/cpu/gray.hpp). Both views lie in device memory, have
// the same size, start on 16-byte boundaries and have pitches that are multiples of 16: what lies
// past a row's end is overwritten up to the next multiple of 4.
void enqueue_gray(View<const Bgr> frame, View<std::uint8_t> gray, StreamHandle stream);
void enqueue_gray(View<const Rgb> frame, View<std::uint8_t> gray, StreamHandle stream);
void enqueue_gray(View<const Bgra> frame, View<std::uint8_t> gray, StreamHandle stream);

// Words of device memory that equalising needs: must be zero before the first use, and are zero
// again after each.
constexpr int equalize_workspace_words = 257;  // the histogram, and a count of finished blocks

// OpenCV's equalizeHist (see core/cpu/gray.hpp), in place.
void enqueue_equalize(View<std::uint8_t> gray, std::uint32_t* workspace, StreamHandle stream);

// ---- resizing the grey image to all pyramid levels of a group, in one launch. The levels are
// written into the atlas, the picture that holds all of them (see atlas.hpp).

// The two source pixels of a result pixel along one axis, in one word: the index of the first, and
// the weight (0 .. 256) of the second, which follows it.
using PackedTap = std::uint32_t;

// Of four neighbours. An axis has these for all its pixels; the last tap is repeated.
struct alignas(16) FourTaps {
  PackedTap of[4];
};

// A level as the kernel needs it.
struct ResizeLevel {
  int x, y, width, height;    // place in the atlas
  int column_taps, row_taps;  // indices in ResizePlan::taps of the first taps of each axis
  bool has_close_columns;     // source pixels of four neighbours in a row lie within 8 bytes
};

// A block's work: a tile of a level; column and row are counted in tiles.
struct ResizeTile {
  std::int32_t level;  // index in ResizePlan::levels
  std::uint16_t column, row;
};

// The data that one launch needs besides pictures. Made on the host, once for a group of levels.
struct ResizePlan {
  std::vector<ResizeLevel> levels;
  std::vector<FourTaps> taps;
  std::vector<ResizeTile> tiles;
};
ResizePlan plan_resize(const Pyramid& pyramid, const AtlasPlan& atlas, const LevelGroup& group);

// A ResizePlan in device memory.
struct DeviceResizePlan {
  const ResizeLevel* levels;
  const FourTaps* taps;
  const ResizeTile* tiles;
  int tile_count;
};

// OpenCV's INTER_LINEAR_EXACT (see core/cpu/gray.hpp) for every level of the plan. Both pictures
// start on 4-byte boundaries and have pitches that are multiples of 4. 12 bytes after each row of
// `gray` may be read; results do not depend on them. The last pixel of each row of a level is
// repeated up to the next multiple of 4; other pixels between levels stay as they are.
void enqueue_resize(View<const std::uint8_t> gray, View<std::uint8_t> atlas,
                    const DeviceResizePlan& plan, StreamHandle stream);

// ---- the tilted integral image of an atlas, for cascades with tilted features

// The table of cpu::tilted_integral (core/cpu/integral.hpp): element (x, y) is the sum of the cone
// that opens upwards from pixel (x, y), for x from -1 on. Row -1 stays as it is and must be zero.
// Both views are in device memory and laid out as SatTask requires (kernels/sat/algorithm.hpp).
void enqueue_tilted(View<const std::uint8_t> picture, View<std::uint32_t> tilted_sum,
                    StreamHandle stream);

}  // namespace facesat::gpu
