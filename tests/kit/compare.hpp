// Exact comparison of pictures, also in poisoned surroundings.
#pragma once

#include <cstring>

#include <gtest/gtest.h>

#include "core/image.hpp"

namespace facesat::test {

// A failure says where the pictures first differ.
template <class A, class B>
::testing::AssertionResult same(const View<A>& actual, const View<B>& expected) {
  if (actual.size != expected.size)
    return ::testing::AssertionFailure()
           << actual.size.width << "x" << actual.size.height << " instead of "
           << expected.size.width << "x" << expected.size.height;
  for (int y = 0; y < expected.size.height; ++y)
    for (int x = 0; x < expected.size.width; ++x)
      if (actual.row(y)[x] != expected.row(y)[x])
        return ::testing::AssertionFailure()
               << "at (" << x << ", " << y << ") " << +actual.row(y)[x] << " instead of "
               << +expected.row(y)[x];
  return ::testing::AssertionSuccess();
}
template <class T>
::testing::AssertionResult same(const Image<T>& actual, const Image<T>& expected) {
  return same(actual.view(), expected.view());
}

// A picture in the middle of poisoned storage: elements that a function leaves unwritten differ
// from the expectation, and writes outside the picture are detected.
template <class T>
class Guarded {
 public:
  // `border` rows above the picture and `border` columns to its left may also be written.
  explicit Guarded(Size size, int border = 0)
      : all_({size.width + border + 2 * margin, size.height + border + 2 * margin}),
        inner_{margin + border, margin + border, size.width, size.height},
        border_(border) {
    for (int y = 0; y < all_.size().height; ++y)
      std::memset(all_.row(y), poison_byte, sizeof(T) * all_.size().width);
  }

  View<T> view() { return all_.view().sub(inner_); }

  // Whether everything outside the picture and its border is still poison.
  ::testing::AssertionResult intact() const {
    T unwritten;
    std::memset(&unwritten, poison_byte, sizeof(T));
    const int left = inner_.x - border_, top = inner_.y - border_;
    const int right = inner_.x + inner_.width, bottom = inner_.y + inner_.height;
    for (int y = 0; y < all_.size().height; ++y)
      for (int x = 0; x < all_.size().width; ++x)
        if ((x < left || y < top || x >= right || y >= bottom) && all_.row(y)[x] != unwritten)
          return ::testing::AssertionFailure()
                 << "written outside, at (" << x - inner_.x << ", " << y - inner_.y << ")";
    return ::testing::AssertionSuccess();
  }

 private:
  static constexpr int margin = 24, poison_byte = 0xA5;
  Image<T> all_;
  Rect inner_;
  int border_;
};

// A copy of a picture inside a larger one, so that its pitch exceeds its width.
template <class T>
class Embedded {
 public:
  explicit Embedded(View<const T> picture) : guarded_(picture.size) {
    copy<T>(picture, guarded_.view());
  }
  View<const T> view() { return guarded_.view(); }

 private:
  Guarded<T> guarded_;
};

}  // namespace facesat::test
