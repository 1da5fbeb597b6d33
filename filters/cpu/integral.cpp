#include "filters/cpu/integral.hpp"

#include <algorithm>
#include <utility>

#include <tbb/parallel_for.h>

#include "core/cpu/integral.hpp"

namespace facesat::cpu {
namespace {

constexpr std::int64_t greatest_short_area = 0xFFFFFFFF / (255 * 255);

// Writes the integral image of value(pixel), as cpu::integral() does.
template <class Value>
void integrate(View<const std::uint8_t> picture, View<std::uint64_t> table, Value value) {
  const auto [width, height] = picture.size;
  std::fill_n(table.row(-1) - 1, width + 1, 0);
  for (int y = 0; y < height; ++y) {
    const std::uint8_t* const pixels = picture.row(y);
    const std::uint64_t* const above = table.row(y - 1);
    std::uint64_t* const row = table.row(y);
    std::uint64_t sum = row[-1] = 0;
    for (int x = 0; x < width; ++x) {
      sum += value(std::uint64_t{pixels[x]});
      row[x] = above[x] + sum;
    }
  }
}

}  // namespace

template <class T>
void BandedTable<T>::add_bands() {
  for (int i = 1; i < bands(); ++i) {
    const View<const T> above = std::as_const(*this).band(i - 1);
    const T *const base = above.row(-1), *const last = above.row(above.size.height - 1);
    T* const sums = band(i).row(-1);
    for (int x = 0; x < size_.width; ++x) sums[x] = base[x] + last[x];
  }
}

void IntegralImages::build(View<const std::uint8_t> picture, Powers powers, Radius radius) {
  has_short_squares_ = radius.area() <= greatest_short_area;
  const bool short_squares = powers >= Powers::squares && has_short_squares_;
  const bool long_squares = powers >= Powers::squares && !has_short_squares_;
  const bool cubes = powers >= Powers::cubes;
  sums_.resize(picture.size);
  if (short_squares) short_squares_.resize(picture.size);
  if (long_squares) squares_.resize(picture.size);
  if (cubes) cubes_.resize(picture.size);
  tbb::parallel_for(0, sums_.bands(), [&](int i) {
    const View<std::uint32_t> sums = sums_.band(i);
    const int top = i * BandedTable<std::uint32_t>::band_rows;
    const View<const std::uint8_t> rows = picture.sub({0, top, sums.size.width, sums.size.height});
    integral(rows, sums, short_squares ? short_squares_.band(i) : View<std::uint32_t>{});
    if (long_squares) integrate(rows, squares_.band(i), [](std::uint64_t p) { return p * p; });
    if (cubes) integrate(rows, cubes_.band(i), [](std::uint64_t p) { return p * p * p; });
  });
  sums_.add_bands();
  if (short_squares) short_squares_.add_bands();
  if (long_squares) squares_.add_bands();
  if (cubes) cubes_.add_bands();
}

template class BandedTable<std::uint32_t>;
template class BandedTable<std::uint64_t>;

}  // namespace facesat::cpu
