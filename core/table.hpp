// The one convention of every integral image (summed area table) in this project: inclusive, 32-bit
// unsigned and wrapping, with a row -1 and a column -1 that can be addressed. Column 0 starts on a
// 64-byte boundary. So evaluation has no edge cases, and a window's own sums stay exact as long as
// they are below 2^32, whatever the size of the table.
#pragma once

#include "core/image.hpp"

namespace facesat {

class Table {
 public:
  // Makes room for the table of a picture of `size`. Contents are undefined until written.
  void resize(Size size) {
    size_ = size;
    storage_.resize({padded_width(size.width), size.height + 1});
  }
  // Element (0, 0) is the sum of pixel (0, 0) alone; row(-1) and row(y)[-1] are valid.
  View<std::uint32_t> view() {
    const View<std::uint32_t> all = storage_.view();
    return {all.row(1) + border, size_, all.pitch};
  }
  View<const std::uint32_t> view() const { return const_cast<Table*>(this)->view(); }

  // Bytes that a table of `size` takes.
  static std::size_t bytes(Size size) {
    return Size{padded_width(size.width), size.height + 1}.area() * sizeof(std::uint32_t);
  }

  static constexpr int border = 16;  // 64 bytes to the left, so that column 0 is aligned

  // Elements of a row, rounded up to an odd number of cache lines: with a power of two, the rows of
  // a window would map to a few cache sets and evict each other.
  static int padded_width(int width) {
    const int lines = (width + border + 15) / 16;
    return (lines | 1) * 16;
  }

 private:
  Size size_;
  Image<std::uint32_t> storage_;
};

}  // namespace facesat
