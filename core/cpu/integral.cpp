#include "core/cpu/integral.hpp"

#include <algorithm>
#include <vector>

#include <tbb/parallel_for.h>

namespace facesat::cpu {
namespace {

constexpr int band_height = 64;

// A row of a table pair: sums and squares, running along x.
struct Carry {
  std::vector<std::uint32_t> sum, squares;
  explicit Carry(int width) : sum(width), squares(width) {}
};

void add_column_sums(View<const std::uint8_t> band, Carry& carry) {
  for (int y = 0; y < band.size.height; ++y) {
    const std::uint8_t* p = band.row(y);
    for (int x = 0; x < band.size.width; ++x) {
      const std::uint32_t v = p[x];
      carry.sum[x] += v;
      carry.squares[x] += v * v;
    }
  }
}

// Writes table rows; `above` is the table row above the first, or null for zeros.
void integrate_row(const std::uint8_t* pixels, int width, const std::uint32_t* above,
                   const std::uint32_t* squares_above, std::uint32_t* sum, std::uint32_t* squares) {
  std::uint32_t s = 0, q = 0;
  sum[-1] = squares[-1] = 0;
  for (int x = 0; x < width; ++x) {
    const std::uint32_t v = pixels[x];
    s += v;
    q += v * v;
    sum[x] = above[x] + s;
    squares[x] = squares_above[x] + q;
  }
}

}  // namespace

// Bands of rows are independent once each knows the table row above it. That row is the running sum
// of all columns above, so the first pass takes each band's column sums and the second writes.
void integral(View<const std::uint8_t> picture, View<std::uint32_t> sum,
              View<std::uint32_t> squared_sum) {
  const int width = picture.size.width, height = picture.size.height;
  const int bands = (height + band_height - 1) / band_height;
  const auto rows_of = [&](int band) {
    const int y = band * band_height;
    return picture.sub({0, y, width, std::min(band_height, height - y)});
  };
  std::vector<Carry> above(bands, Carry(width));  // of band b: the column sums of band b - 1, then
  tbb::parallel_for(1, bands, [&](int b) { add_column_sums(rows_of(b - 1), above[b]); });
  for (int b = 1; b < bands; ++b)  // of all bands before it
    for (int x = 0; x < width; ++x) {
      above[b].sum[x] += above[b - 1].sum[x];
      above[b].squares[x] += above[b - 1].squares[x];
    }
  std::fill_n(sum.row(-1) - 1, width + 1, 0);
  std::fill_n(squared_sum.row(-1) - 1, width + 1, 0);
  tbb::parallel_for(0, bands, [&](int b) {
    Carry& carry = above[b];
    for (int x = 1; x < width; ++x) {
      carry.sum[x] += carry.sum[x - 1];
      carry.squares[x] += carry.squares[x - 1];
    }
    const View<const std::uint8_t> rows = rows_of(b);
    for (int i = 0; i < rows.size.height; ++i) {
      const int y = b * band_height + i;
      integrate_row(rows.row(i), width, i == 0 ? carry.sum.data() : sum.row(y - 1),
                    i == 0 ? carry.squares.data() : squared_sum.row(y - 1), sum.row(y),
                    squared_sum.row(y));
    }
  });
}

// A cone is the cone of the pixel above and the two diagonals that end in this pixel:
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

}  // namespace facesat::cpu
