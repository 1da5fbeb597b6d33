// Exact comparison of pictures, which reports where they first differ.
#pragma once

#include <gtest/gtest.h>

#include "core/image.hpp"

namespace facesat::test {

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

}  // namespace facesat::test
