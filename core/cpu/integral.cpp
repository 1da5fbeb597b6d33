#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/cpu/integral.cpp"
#include "core/cpu/integral.hpp"

#include <algorithm>
#include <vector>

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace facesat::cpu::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using Tag = hn::CappedTag<std::uint32_t, 16>;
using Vec = hn::Vec<Tag>;

#if HWY_TARGET != HWY_SCALAR
// Inclusive prefix sum over the lanes of a vector, in log2(lanes) steps: first within blocks of
// four lanes; then, for shift = 4 and 8, each lane adds the last lane of the block `shift` lanes
// before its own.
class Prefix {
 public:
  Prefix() {
    const Tag tag;
    std::uint32_t from[16], first[16];  // the lane to add, and a mask: 0 where there is none
    for (std::uint32_t shift = 4, i = 0; shift < hn::Lanes(tag); shift *= 2, ++i) {
      for (std::uint32_t lane = 0; lane < hn::Lanes(tag); ++lane) {
        from[lane] = lane < shift ? 0 : (lane - shift) | 3;
        first[lane] = lane < shift ? 0 : ~0u;
      }
      from_[i] = hn::SetTableIndices(tag, from);
      keep_[i] = hn::LoadU(tag, first);
    }
    std::fill_n(from, 16, static_cast<std::uint32_t>(hn::Lanes(tag) - 1));
    last_ = hn::SetTableIndices(tag, from);
  }

  HWY_INLINE Vec operator()(Vec v) const {
    const Tag tag;
    v = v + hn::ShiftLeftLanes<1>(tag, v);
    v = v + hn::ShiftLeftLanes<2>(tag, v);
    for (std::size_t shift = 4, i = 0; shift < hn::MaxLanes(tag); shift *= 2, ++i)
      v = v + (hn::TableLookupLanes(v, from_[i]) & keep_[i]);
    return v;
  }
  // The last lane, in every lane.
  HWY_INLINE Vec last(Vec v) const { return hn::TableLookupLanes(v, last_); }

 private:
  using Indices = decltype(hn::SetTableIndices(Tag(), static_cast<std::uint32_t*>(nullptr)));
  Indices from_[2], last_;
  Vec keep_[2];
};

#endif

// Writes a row of the tables from the row above it.
template <bool has_squares>
void integrate_row(const std::uint8_t* pixels, int width, const std::uint32_t* above,
                   const std::uint32_t* squares_above, std::uint32_t* sum, std::uint32_t* squares) {
  int x = 0;
  std::uint32_t s_end = 0, q_end = 0;  // sums of the row so far: of pixels, of their squares
#if HWY_TARGET != HWY_SCALAR
  const Tag tag;
  const hn::Rebind<std::uint8_t, Tag> bytes;
  const Prefix prefix;
  const int lanes = static_cast<int>(hn::Lanes(tag));
  Vec s = hn::Zero(tag), q = hn::Zero(tag);
  for (; x + lanes <= width; x += lanes) {
    const Vec p = hn::PromoteTo(tag, hn::LoadU(bytes, pixels + x));
    s = prefix(p) + s;
    hn::StoreU(hn::LoadU(tag, above + x) + s, tag, sum + x);
    s = prefix.last(s);
    if (!has_squares) continue;
    q = prefix(p * p) + q;
    hn::StoreU(hn::LoadU(tag, squares_above + x) + q, tag, squares + x);
    q = prefix.last(q);
  }
  s_end = hn::GetLane(s);
  q_end = hn::GetLane(q);
#endif
  for (; x < width; ++x) {
    const std::uint32_t p = pixels[x];
    s_end += p;
    sum[x] = above[x] + s_end;
    if (!has_squares) continue;
    q_end += p * p;
    squares[x] = squares_above[x] + q_end;
  }
}

void Integral(View<const std::uint8_t> picture, View<std::uint32_t> sum,
              View<std::uint32_t> squares) {
  const auto [width, height] = picture.size;
  for (int y = 0; y < height; ++y)
    if (squares.data)
      integrate_row<true>(picture.row(y), width, sum.row(y - 1), squares.row(y - 1), sum.row(y),
                          squares.row(y));
    else
      integrate_row<false>(picture.row(y), width, sum.row(y - 1), nullptr, sum.row(y), nullptr);
}

// Reorders a row in place: the even elements move to its start, the odd ones are kept in `odd` and
// then copied to `odd_place`. Each vector of the row is read before it is overwritten.
void SplitRow(std::uint32_t* row, int width, std::uint32_t* odd, std::uint32_t* odd_place) {
  int i = 0;  // pair of elements
#if HWY_TARGET != HWY_SCALAR
  const Tag tag;
  const int lanes = static_cast<int>(hn::Lanes(tag));
  for (; 2 * (i + lanes) <= width; i += lanes) {
    const Vec low = hn::LoadU(tag, row + 2 * i), high = hn::LoadU(tag, row + 2 * i + lanes);
    hn::StoreU(hn::ConcatEven(tag, high, low), tag, row + i);
    hn::StoreU(hn::ConcatOdd(tag, high, low), tag, odd + i);
  }
#endif
  for (; 2 * i < width; ++i) {
    const std::uint32_t even = row[2 * i];
    if (2 * i + 1 < width) odd[i] = row[2 * i + 1];
    row[i] = even;
  }
  std::copy_n(odd, width / 2, odd_place);
}

}  // namespace
}  // namespace facesat::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace facesat::cpu {

HWY_EXPORT(Integral);
HWY_EXPORT(SplitRow);

void integral(View<const std::uint8_t> picture, View<std::uint32_t> sum,
              View<std::uint32_t> squared_sum) {
  for (const View<std::uint32_t>& table : {sum, squared_sum}) {
    if (!table.data) continue;
    std::fill_n(table.row(-1) - 1, picture.size.width + 1, 0);
    for (int y = 0; y < picture.size.height; ++y) table.row(y)[-1] = 0;
  }
  HWY_DYNAMIC_DISPATCH(Integral)(picture, sum, squared_sum);
}

// The cone C of a pixel is that of the pixel above plus the two diagonals that end in the pixel:
//   C(x, y) = C(x, y-1) + L(x, y) + R(x, y) - p(x, y),  L(x, y) = p(x, y) + L(x-1, y-1),
//                                                       R(x, y) = p(x, y) + R(x+1, y-1).
void tilted_integral(View<const std::uint8_t> picture, View<std::uint32_t> tilted_sum) {
  const int width = picture.size.width, height = picture.size.height;
  // Diagonals of the row above, with zeros to both sides: element x + 1 belongs to column x.
  std::vector<std::uint32_t> left(width + 2), right(width + 2);
  std::fill_n(tilted_sum.row(-1) - 1, width + 1, 0);
  for (int y = 0; y < height; ++y) {
    const std::uint8_t* p = picture.row(y);
    const std::uint32_t* above = tilted_sum.row(y - 1);
    std::uint32_t* out = tilted_sum.row(y);
    right[0] = right[1];
    out[-1] = above[-1] + right[0];
    for (int x = 0; x < width; ++x) right[x + 1] = p[x] + right[x + 2];
    for (int x = width - 1; x >= 0; --x) left[x + 1] = p[x] + left[x];
    for (int x = 0; x < width; ++x) out[x] = above[x] + left[x + 1] + right[x + 1] - p[x];
  }
}

void split_columns(View<std::uint32_t> table, std::ptrdiff_t odd) {
  const int width = table.size.width + 1;
  std::vector<std::uint32_t> aside(width / 2);
  for (int y = -1; y < table.size.height; ++y) {
    std::uint32_t* const row = table.row(y) - 1;
    HWY_DYNAMIC_DISPATCH(SplitRow)(row, width, aside.data(), row + odd);
  }
}

}  // namespace facesat::cpu
#endif
