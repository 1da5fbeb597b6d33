#include <algorithm>
#include <cstdint>

#include <gtest/gtest.h>

#include "core/image.hpp"
#include "tests/kit/printers.hpp"

namespace facesat::test {
namespace {

TEST(Table, Column0IsAlignedAndTheBordersExist) {
  Table table;
  for (const Size size : {Size{1, 1}, {15, 3}, {64, 65}, {641, 2}, {3, 500}}) {
    table.resize(size);
    const View<std::uint32_t> view = table.view();
    EXPECT_EQ(view.size, size);
    for (int y = -1; y < size.height; ++y) {
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(view.row(y)) % 64, 0u);
      std::fill_n(view.row(y) - 1, size.width + 1, static_cast<std::uint32_t>(y));
    }
    for (int y = -1; y < size.height; ++y)  // rows do not overlap
      for (int x = -1; x < size.width; ++x)
        ASSERT_EQ(view.row(y)[x], static_cast<std::uint32_t>(y)) << x << ", " << y;
  }
}

TEST(Table, BytesAreAtLeastWhatIsAddressed) {
  for (const Size size : {Size{1, 1}, {16, 1}, {17, 9}, {1920, 1080}}) {
    Table table;
    table.resize(size);
    const std::size_t rows = size.height + 1;
    EXPECT_GE(Table::bytes(size), (size.width + 1) * rows * sizeof(std::uint32_t));
    EXPECT_GE(Table::bytes(size), table.view().pitch * rows * sizeof(std::uint32_t));
  }
}

}  // namespace
}  // namespace facesat::test
