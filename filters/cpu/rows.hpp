// What the filters of this folder share: terms of weighted sums of rows, padding, bands of rows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

#include <tbb/parallel_for.h>

#include "core/image.hpp"
#include "filters/border.hpp"
#include "filters/mask.hpp"

namespace facesat::cpu {

// weight * from[x], for each x of a row.
template <class In, class Sum>
struct Term {
  const In* from;
  Sum weight;
};
template <class In, class Sum>
using Terms = std::vector<Term<In, Sum>>;

template <class In, class Sum, class W>
void add_term(Terms<In, Sum>& terms, const In* from, W weight) {
  // Real numbers keep theirs: 0 times infinity is not 0.
  if (std::is_floating_point_v<W> || weight != W{})
    terms.push_back({from, static_cast<Sum>(weight)});
}

// The terms of a column of weights for row y of the result.
template <class In, class Sum, class W>
void column_terms(View<const In> picture, const std::vector<W>& column, Border border, int y,
                  Terms<In, Sum>& terms) {
  terms.clear();
  const int radius = static_cast<int>(column.size() / 2);
  for (int j = 0; j <= 2 * radius; ++j) {
    const int source = source_of(y + radius - j, picture.size.height, border);
    if (source != no_source)
      add_term(terms, picture.row(source), column[static_cast<std::size_t>(j)]);
  }
}

// Writes the `radius` elements to both sides of a row.
template <class T>
void pad(T* row, int width, int radius, Border border) {
  const auto at = [&](int x) {
    const int source = source_of(x, width, border);
    return source == no_source ? T{} : row[source];
  };
  for (int i = 1; i <= radius; ++i) {
    row[-i] = at(-i);
    row[width - 1 + i] = at(width - 1 + i);
  }
}

// Calls rows(first, last) for bands of rows, in parallel.
template <class Rows>
void for_each_band(int height, Rows rows) {
  constexpr int band = 32;
  tbb::parallel_for(0, divide_up(height, band),
                    [&](int i) { rows(i * band, std::min(height, (i + 1) * band)); });
}

// Calls part(rectangle) for parts of a picture, in parallel: bands of rows, of which long ones, of
// signals, are divided, too.
template <class Part>
void for_each_part(Size size, Part part) {
  constexpr int rows = 32, columns = 1 << 15;
  const int across = divide_up(size.width, columns);
  tbb::parallel_for(0, divide_up(size.height, rows) * across, [&](int i) {
    const int x = i % across * columns, y = i / across * rows;
    part(Rect{x, y, std::min(columns, size.width - x), std::min(rows, size.height - y)});
  });
}

// value(pixel) for each pixel of a picture, with `radius` more columns on both sides.
template <class T>
class PaddedPicture {
 public:
  template <class In, class Value>
  PaddedPicture(View<const In> picture, int radius, Border border, Value value)
      : image_({picture.size.width + 2 * radius, picture.size.height}),
        inner_{radius, 0, picture.size.width, picture.size.height} {
    for_each_part(picture.size, [&](Rect part) {
      for (int y = part.y; y < part.y + part.height; ++y) {
        const In* const from = picture.row(y) + part.x;
        T* const to = image_.row(y) + radius + part.x;
        for (int x = 0; x < part.width; ++x) to[x] = static_cast<T>(value(from[x]));
      }
    });
    for_each_band(inner_.height, [&](int first, int last) {
      for (int y = first; y < last; ++y) pad(image_.row(y) + radius, inner_.width, radius, border);
    });
  }

  // Its rows may be read to both sides.
  View<const T> view() const { return image_.view().sub(inner_); }

 private:
  Image<T> image_;
  Rect inner_;
};

// Working memory of separable convolutions.
template <class In, class Sum>
struct FilterRow {
  Terms<In, Sum> columns;
  Terms<Sum, Sum> rows;
  std::vector<Sum> padded;
};

// rounded_pixel() without an integer division, for sums of 32 bits, signed or unsigned.
//   It is the floor of (sum + divisor / 2) / divisor. A quarter more does not change the floor, and
// keeps the quotient at least 2^-33 away from whole numbers: further than rounding moves it, as
// long as it is within 0 to 256.
class RoundedQuotient {
 public:
  explicit RoundedQuotient(double divisor) : added_(divisor / 2 + 0.25), inverse_(1 / divisor) {}

  template <class Sum>
  std::uint8_t operator()(Sum sum) const {
    const double quotient = (static_cast<double>(sum) + added_) * inverse_;
    return static_cast<std::uint8_t>(static_cast<int>(quotient < 0     ? 0
                                                      : quotient > 255 ? 255
                                                                       : quotient));
  }

 private:
  double added_, inverse_;
};

}  // namespace facesat::cpu
