// Copies the integral image at the corners of sixteen windows, from anywhere in a tile, into a
// patch in which these windows are neighbours (see compiled.hpp). Included once for each
// instruction set.
#if defined(FACESAT_CPU_GATHER_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef FACESAT_CPU_GATHER_INL
#undef FACESAT_CPU_GATHER_INL
#else
#define FACESAT_CPU_GATHER_INL
#endif

#include <hwy/highway.h>

#include "core/cpu/compiled.hpp"

HWY_BEFORE_NAMESPACE();
namespace facesat::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Elements that gather() may write past the last corner.
inline constexpr std::size_t patch_slack = 8 * patch_windows;

#if HWY_TARGET == HWY_SCALAR
HWY_INLINE void transpose(const std::uint32_t* const* windows, std::ptrdiff_t from, int count,
                          std::uint32_t* patch, std::ptrdiff_t stride) {
  for (int i = 0; i < count; ++i)
    for (int w = 0; w < patch_windows; ++w) patch[i * stride + w] = windows[w][from + i];
}
#else
// Copies `count` elements from each of sixteen places to patch[i * stride + window]. Reads and
// writes up to three elements more. Transposes four windows by four elements at a time, in
// registers.
HWY_INLINE void transpose(const std::uint32_t* const* windows, std::ptrdiff_t from, int count,
                          std::uint32_t* patch, std::ptrdiff_t stride) {
  const hn::CappedTag<std::uint32_t, 4> tag;
  const hn::Repartition<std::uint64_t, decltype(tag)> pairs;
  for (int w = 0; w < patch_windows; w += 4)
    for (int i = 0; i < count; i += 4) {
      const auto a = hn::LoadU(tag, windows[w] + from + i);
      const auto b = hn::LoadU(tag, windows[w + 1] + from + i);
      const auto c = hn::LoadU(tag, windows[w + 2] + from + i);
      const auto d = hn::LoadU(tag, windows[w + 3] + from + i);
      const auto ab_low = hn::BitCast(pairs, hn::InterleaveLower(tag, a, b));
      const auto cd_low = hn::BitCast(pairs, hn::InterleaveLower(tag, c, d));
      const auto ab_high = hn::BitCast(pairs, hn::InterleaveUpper(tag, a, b));
      const auto cd_high = hn::BitCast(pairs, hn::InterleaveUpper(tag, c, d));
      std::uint32_t* const to = patch + i * stride + w;
      hn::StoreU(hn::BitCast(tag, hn::InterleaveLower(pairs, ab_low, cd_low)), tag, to);
      hn::StoreU(hn::BitCast(tag, hn::InterleaveUpper(pairs, ab_low, cd_low)), tag, to + stride);
      hn::StoreU(hn::BitCast(tag, hn::InterleaveLower(pairs, ab_high, cd_high)), tag,
                 to + 2 * stride);
      hn::StoreU(hn::BitCast(tag, hn::InterleaveUpper(pairs, ab_high, cd_high)), tag,
                 to + 3 * stride);
    }
}
#endif

// Copies the integral image, or the tilted one at offset `table`. Rows are copied in order:
// elements written past the end of a row are overwritten by the next row.
HWY_INLINE void gather_table(const Layout& tile, const Layout& patch_layout, Size window,
                             const std::uint32_t* const* windows, std::ptrdiff_t table,
                             std::uint32_t* patch) {
  const int columns = window.width + 1;
  for (int y = 0; y <= window.height; ++y) {
    const std::ptrdiff_t row = table + y * tile.row;
    std::uint32_t* const to = patch + y * patch_layout.row;
    if (tile.odd) {
      transpose(windows, row, (columns + 1) / 2, to, 2 * patch_windows);
      transpose(windows, row + tile.odd, columns / 2, to + patch_windows, 2 * patch_windows);
    } else {
      transpose(windows, row, columns, to, patch_windows);
    }
  }
}

// Fills the patch; `windows` points to corner (0, 0) of each of the sixteen windows. `tile` and
// `patch_layout` are the layouts to read and to write.
HWY_INLINE void gather(const Layout& tile, const Layout& patch_layout, Size window,
                       const std::uint32_t* const* windows, std::uint32_t* patch) {
  gather_table(tile, patch_layout, window, windows, 0, patch);
  if (tile.tilted)
    gather_table(tile, patch_layout, window, windows, tile.tilted, patch + patch_layout.tilted);
}

}  // namespace facesat::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // for each instruction set
