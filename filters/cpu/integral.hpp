// Integral images (summed area tables) of a whole picture, built by all threads: of pixels, and of
// their squares and cubes where a filter needs them.
#pragma once

#include <cstdint>

#include "core/image.hpp"
#include "filters/mask.hpp"

namespace facesat::cpu {

// An integral image in bands of rows, which can be built at the same time: each band has the
// integral image of its own rows alone, and in row -1 what all bands above add to it. T is unsigned
// and wraps.
template <class T>
class BandedTable {
 public:
  static constexpr int band_rows = 64;

  // Makes room for a picture of `size`. Throws MemoryError.
  void resize(Size size) {
    size_ = size;
    storage_.resize({Table::padded_width(size.width), size.height + bands()});
  }
  Size size() const { return size_; }
  int bands() const { return divide_up(size_.height, band_rows); }

  // The rows of a band; row -1 and column -1 are there, too.
  View<T> band(int index) {
    const int top = index * band_rows;
    const int rows = size_.height - top < band_rows ? size_.height - top : band_rows;
    const View<T> all = storage_.view();
    return {all.row(top + index + 1) + Table::border, {size_.width, rows}, all.pitch};
  }
  View<const T> band(int index) const { return const_cast<BandedTable*>(this)->band(index); }

  // Once row -1 of each band is 0 and the bands are written: adds up their last rows.
  void add_bands();

 private:
  Size size_;
  Image<T> storage_;
};

enum class Powers { pixels = 1, squares, cubes };  // each also has those before it

class IntegralImages {
 public:
  // Builds the tables of a picture of at least one pixel, for windows of up to this radius, at most
  // greatest_filter_radius in each direction: sums of their pixels fit into 32 bits, but those of
  // squares only up to 66051 pixels, beyond which they get a table of 64 bits. Keeps its memory
  // between calls. Threads: the caller's oneTBB arena. Throws MemoryError.
  void build(View<const std::uint8_t> picture, Powers powers, Radius radius);

  Size size() const { return sums_.size(); }
  const BandedTable<std::uint32_t>& sums() const { return sums_; }
  bool has_short_squares() const { return has_short_squares_; }
  const BandedTable<std::uint32_t>& short_squares() const { return short_squares_; }
  const BandedTable<std::uint64_t>& squares() const { return squares_; }
  const BandedTable<std::uint64_t>& cubes() const { return cubes_; }

 private:
  BandedTable<std::uint32_t> sums_, short_squares_;
  BandedTable<std::uint64_t> squares_, cubes_;
  bool has_short_squares_ = false;
};

}  // namespace facesat::cpu
