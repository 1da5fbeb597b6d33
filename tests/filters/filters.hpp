// What the tests of filters have in common.
#pragma once

#include <vector>

#include "filters/border.hpp"
#include "filters/mask.hpp"
#include "tests/kit/compare.hpp"
#include "tests/kit/pictures.hpp"
#include "tests/kit/printers.hpp"

namespace facesat::test {

inline constexpr Border all_borders[] = {Border::zero, Border::clamp, Border::mirror,
                                         Border::reflect101, Border::wrap};
inline constexpr Size filter_sizes[] = {{1, 1}, {1, 7}, {9, 1}, {5, 3}, {37, 23}, {67, 41}};

// Radii for a picture of this size: small ones, and for all but the largest picture one that
// exceeds it.
inline std::vector<Radius> filter_radii(Size size) {
  std::vector<Radius> radii{{0, 0}, {1, 1}, {2, 2}, {3, 3}, {1, 3}, {4, 0}, {0, 2}};
  if (size.width < 60) radii.push_back({size.width + 3, size.height + 1});
  return radii;
}

inline std::string name_of(Size size, Radius radius, Border border) {
  return ::testing::PrintToString(size) + ", radius " + std::to_string(radius.x) + ", " +
         std::to_string(radius.y) + ", " + std::string(name_of(border));
}

// Checks what filter(result) writes on every instruction set.
template <class T, class Filter>
void expect_result(View<const T> expected, const std::string& name, Filter filter) {
  on_every_instruction_set([&] {
    Guarded<T> result(expected.size);
    filter(result.view());
    EXPECT_TRUE(same(result.view(), expected)) << name;
    EXPECT_TRUE(result.intact()) << name;
  });
}

}  // namespace facesat::test
