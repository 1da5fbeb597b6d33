// Pictures and tables: borrowed views, owned images, and integral images.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include "facesat/types.hpp"

namespace facesat {

// The quotient of positive integers, rounded up: how many tiles of `b` elements cover `a` elements.
constexpr int divide_up(int a, int b) {
  return (a + b - 1) / b;
}

// One colour pixel in the byte order of OpenCV's images.
struct Bgr {
  std::uint8_t b, g, r;
};

// The same in the byte order of most other libraries, and of PNM files.
struct Rgb {
  std::uint8_t r, g, b;
};

// The order of OpenCV, with a fourth byte, which is ignored.
struct Bgra {
  std::uint8_t b, g, r, a;
};

// A borrowed picture: `size` elements, rows `pitch` elements apart. Owns nothing.
template <class T>
struct View {
  T* data = nullptr;
  Size size;
  std::ptrdiff_t pitch = 0;

  constexpr T* row(int y) const { return data + y * pitch; }
  View sub(Rect r) const { return {row(r.y) + r.x, {r.width, r.height}, pitch}; }
  operator View<const T>() const requires(!std::is_const_v<T>) { return {data, size, pitch}; }
};

// An owned picture; rows start on 64-byte boundaries. Contents are uninitialised until written.
template <class T>
class Image {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Image() = default;
  explicit Image(Size size) : Image(size, rounded_pitch(size.width)) {}
  // Throws MemoryError if the system refuses.
  Image(Size size, std::ptrdiff_t pitch)
      : size_(size), pitch_(pitch), capacity_(pitch * size.height), data_(allocate(size, pitch)) {}
  // The moved-from image is empty.
  Image(Image&& other) noexcept
      : size_(std::exchange(other.size_, {})),
        pitch_(std::exchange(other.pitch_, 0)),
        capacity_(std::exchange(other.capacity_, 0)),
        data_(std::move(other.data_)) {}
  Image& operator=(Image&& other) noexcept {
    data_.reset();
    size_ = std::exchange(other.size_, {});
    pitch_ = std::exchange(other.pitch_, 0);
    capacity_ = std::exchange(other.capacity_, 0);
    data_ = std::move(other.data_);
    return *this;
  }

  Size size() const { return size_; }
  View<T> view() { return {data_.get(), size_, pitch_}; }
  View<const T> view() const { return {data_.get(), size_, pitch_}; }
  T* row(int y) { return view().row(y); }
  const T* row(int y) const { return view().row(y); }

  // The least pitch with which all rows start on 64-byte boundaries.
  static std::ptrdiff_t rounded_pitch(int width) {
    constexpr std::ptrdiff_t step = alignment % sizeof(T) == 0 ? alignment / sizeof(T) : alignment;
    return (width + step - 1) / step * step;
  }

  // Can resize() use the memory that there is?
  bool has_room(Size size) const { return rounded_pitch(size.width) * size.height <= capacity_; }

  // Makes room for `size` elements, reusing the allocation if it is large enough. Contents are
  // lost.
  void resize(Size size) {
    const std::ptrdiff_t pitch = rounded_pitch(size.width);
    if (!has_room(size)) {
      *this = Image();  // free first: both need not fit into memory at once
      *this = Image(size, pitch);
    }
    size_ = size;
    pitch_ = pitch;
  }

 private:
  static constexpr std::size_t alignment = 64;
  struct Free {
    void operator()(T* p) const { ::operator delete(p, std::align_val_t(alignment)); }
  };
  using Data = std::unique_ptr<T[], Free>;

  static Data allocate(Size size, std::ptrdiff_t pitch) {
    const std::size_t bytes = static_cast<std::size_t>(pitch) * size.height * sizeof(T);
    void* p = ::operator new(bytes, std::align_val_t(alignment), std::nothrow);
    if (!p) throw MemoryError("the picture", bytes);
    return Data(static_cast<T*>(p));
  }

  Size size_;
  std::ptrdiff_t pitch_ = 0, capacity_ = 0;  // in elements
  Data data_;
};

// The one convention of every integral image (summed area table) in this project: inclusive, 32-bit
// unsigned and wrapping, with a row -1 and a column -1 that can be addressed. Column 0 starts on a
// 64-byte boundary. So evaluation has no edge cases, and a window's own sums stay exact as long as
// they are below 2^32, whatever the size of the table.
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

// A view as the library's interface describes images.
inline ImageView image_view(View<const Bgr> picture) {
  return {.pixels = picture.data,
          .size = picture.size,
          .pitch = picture.pitch * static_cast<std::ptrdiff_t>(sizeof(Bgr)),
          .format = PixelFormat::bgr};
}
inline ImageView image_view(View<const Rgb> picture) {
  return {.pixels = picture.data,
          .size = picture.size,
          .pitch = picture.pitch * static_cast<std::ptrdiff_t>(sizeof(Rgb)),
          .format = PixelFormat::rgb};
}
inline ImageView image_view(View<const std::uint8_t> gray) {
  return {.pixels = gray.data, .size = gray.size, .pitch = gray.pitch, .format = PixelFormat::gray};
}

// Copies row by row; the sizes must be equal.
template <class T>
void copy(View<const T> from, View<T> to) {
  for (int y = 0; y < from.size.height; ++y)
    std::memcpy(to.row(y), from.row(y), sizeof(T) * from.size.width);
}

}  // namespace facesat
