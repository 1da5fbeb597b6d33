// Images and views, integral images, memory that is refused, and the rules of detection.
#include "core/image.hpp"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/memory.hpp"
#include "core/rules.hpp"
#include "facesat/types.hpp"
#include "tests/kit/printers.hpp"

namespace facesat::test {
namespace {

bool on_64_byte_boundary(const void* p) {
  return reinterpret_cast<std::uintptr_t>(p) % 64 == 0;
}

template <class T>
class ImageOf : public ::testing::Test {};
using Pixels = ::testing::Types<std::uint8_t, std::uint16_t, Bgr, std::uint32_t>;
TYPED_TEST_SUITE(ImageOf, Pixels);

TYPED_TEST(ImageOf, RowsAreAlignedAndLongEnough) {
  for (const int width : {1, 2, 21, 63, 64, 65, 128, 129}) {
    const Image<TypeParam> image(Size{width, 3});
    EXPECT_GE(image.view().pitch, width);
    for (int y = 0; y < 3; ++y) EXPECT_TRUE(on_64_byte_boundary(image.row(y))) << width;
  }
}

TYPED_TEST(ImageOf, ResizeReusesAnAllocationThatIsLargeEnough) {
  Image<TypeParam> image(Size{100, 80});
  const TypeParam* const first = image.row(0);
  for (const Size size : {Size{10, 10}, {64, 100}, {100, 80}, {0, 0}, {1, 80}}) {
    image.resize(size);
    EXPECT_EQ(image.row(0), first);
    EXPECT_EQ(image.size(), size);
    EXPECT_GE(image.view().pitch, size.width);
    EXPECT_LE(image.view().pitch, size.width + 63);  // rows end at most 63 elements later
  }
}

TYPED_TEST(ImageOf, ResizeGrowsByRowsAndByColumns) {
  Image<TypeParam> image(Size{64, 10});
  for (const Size size : {Size{64, 11}, {640, 11}, {1, 5000}, {5000, 2}}) {
    image.resize(size);
    EXPECT_EQ(image.size(), size);
    EXPECT_TRUE(on_64_byte_boundary(image.row(0)));
    for (int y = 0; y < size.height; ++y) std::fill_n(image.row(y), size.width, TypeParam{});
  }
}

TEST(Image, StartsEmpty) {
  const Image<std::uint8_t> image;
  EXPECT_EQ(image.size(), Size{});
  EXPECT_EQ(image.view().data, nullptr);
}

TEST(Image, RefusalSaysHowMuchWasWanted) {
  try {
    Image<std::uint32_t> image(Size{1 << 30, 1 << 30});
    FAIL() << "the system granted 2^62 bytes";
  } catch (const MemoryError& error) {
    EXPECT_EQ(error.bytes, std::uint64_t{1} << 62);
    EXPECT_NE(std::string(error.what()).find("4611686018427387904 bytes"), std::string::npos);
  }
}

TEST(Image, StaysUsableAfterARefusal) {
  Image<std::uint8_t> image(Size{10, 10});
  EXPECT_THROW(image.resize({1 << 30, 1 << 30}), MemoryError);
  image.resize({3, 3});
  image.row(2)[2] = 7;
  EXPECT_EQ(image.view().row(2)[2], 7);
}

TEST(Image, IsEmptyAndUsableAfterAMove) {
  Image<std::uint8_t> image(Size{10, 10});
  const Image<std::uint8_t> taken = std::move(image);
  EXPECT_EQ(taken.size(), (Size{10, 10}));
  EXPECT_EQ(image.size(), Size{});
  image.resize({5, 5});
  ASSERT_NE(image.row(0), nullptr);
  image = Image<std::uint8_t>(Size{3, 3});
  EXPECT_EQ(image.size(), (Size{3, 3}));
}

TEST(View, SubSharesPixelsAndPitch) {
  Image<std::uint8_t> image(Size{100, 50});
  const View<std::uint8_t> part = image.view().sub({30, 20, 8, 4});
  EXPECT_EQ(part.size, (Size{8, 4}));
  EXPECT_EQ(part.pitch, image.view().pitch);
  EXPECT_EQ(&part.row(3)[5], &image.row(23)[35]);
  EXPECT_EQ(&part.row(-1)[-1], &image.row(19)[29]);
}

TEST(View, CopyTouchesThePictureOnly) {
  Image<std::uint8_t> from(Size{5, 3}), to(Size{20, 9});
  for (int y = 0; y < 9; ++y) std::fill_n(to.row(y), 20, std::uint8_t{9});
  for (int y = 0; y < 3; ++y) std::fill_n(from.row(y), 5, static_cast<std::uint8_t>(y));
  copy<std::uint8_t>(from.view(), to.view().sub({7, 2, 5, 3}));
  for (int y = 0; y < 9; ++y)
    for (int x = 0; x < 20; ++x) {
      const bool inside = x >= 7 && x < 12 && y >= 2 && y < 5;
      EXPECT_EQ(to.row(y)[x], inside ? y - 2 : 9) << x << ", " << y;
    }
}

TEST(Size, AreaIsNotLimitedTo32Bits) {
  EXPECT_EQ((Size{1 << 20, 1 << 20}.area()), std::size_t{1} << 40);
}

TEST(Rect, IsOrderedByRowsFirst) {
  const std::vector<Rect> in_order = {{9, 0, 9, 9}, {1, 2, 3, 4}, {1, 2, 3, 5}, {1, 2, 4, 1},
                                      {2, 2, 1, 1}, {0, 3, 0, 0}, {-1, 4, 5, 5}};
  std::vector<Rect> rects(in_order.rbegin(), in_order.rend());
  std::sort(rects.begin(), rects.end());
  EXPECT_EQ(rects, in_order);
}

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

TEST(Memory, GrantsZeroBytesAndHalfOfWhatIsAvailable) {
  EXPECT_NO_THROW(require_memory(0, "nothing"));
  EXPECT_NO_THROW(require_memory(available_memory() / 2, "half of it"));
}

TEST(Memory, RefusalSaysHowMuchIsNeeded) {
  constexpr std::uint64_t bytes = 5ull << 60;
  try {
    require_memory(bytes, "this image");
    FAIL() << "5 EiB were granted";
  } catch (const MemoryError& error) {
    EXPECT_EQ(error.bytes, bytes);
    EXPECT_STREQ(error.what(),
                 "this image needs 5764607523034234880 bytes of memory (5368709120.0 GiB), more "
                 "than is available");
  }
  EXPECT_STREQ(MemoryError("a row", 3 << 19).what(),
               "a row needs 1572864 bytes of memory (1.5 MiB), more than is available");
}

// While it exists, the soft limit of the address space is `bytes`, as set by `ulimit -v`.
class AddressSpaceLimit {
 public:
  explicit AddressSpaceLimit(std::uint64_t bytes) {
    getrlimit(RLIMIT_AS, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    granted = setrlimit(RLIMIT_AS, &limit) == 0;
  }
  ~AddressSpaceLimit() { setrlimit(RLIMIT_AS, &before_); }
  AddressSpaceLimit(const AddressSpaceLimit&) = delete;
  AddressSpaceLimit& operator=(const AddressSpaceLimit&) = delete;
  bool granted = false;

 private:
  rlimit before_{};
};

TEST(Memory, AnAddressSpaceLimitCounts) {
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  constexpr std::uint64_t left = 100 << 20;  // bytes that the limit leaves to this process
  const AddressSpaceLimit limit(pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) + left);
  ASSERT_TRUE(limit.granted);
  EXPECT_LE(available_memory(), left);
  EXPECT_GT(available_memory(), left / 2);  // a little is used up meanwhile
}

TEST(Rules, SkipRuleOnAWordAgreesWithTheRuleOnRuns) {
  for (unsigned rejected = 0; rejected < 1 << 16; ++rejected) {
    unsigned expected = 0;
    // 16 windows, and the window after them.
    for (int i = 0, run = 0; i < 17; ++i) {
      if (rules::is_skipped_after(run)) expected |= 1u << i;
      run = rejected >> i & 1 ? run + 1 : 0;
    }
    ASSERT_EQ(rules::skipped_by(rejected) & 0x1FFFF, expected) << rejected;
  }
  std::mt19937_64 random(1);
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t rejected = random() | random();  // most bits are set: long runs
    const auto low = static_cast<std::uint32_t>(rejected);
    ASSERT_EQ(static_cast<std::uint32_t>(rules::skipped_by(rejected)), rules::skipped_by(low))
        << rejected;
  }
}

TEST(Rules, TiesAreRoundedToEven) {
  EXPECT_EQ(rules::round_even(0.5), 0);
  EXPECT_EQ(rules::round_even(1.5f), 2);
  EXPECT_EQ(rules::round_even(-2.5), -2);
  EXPECT_EQ(rules::round_even(2.500001), 3);
}

TEST(Rules, BoxesAreClippedToTheImage) {
  EXPECT_EQ(rules::clipped({-3, 2, 10, 10}, {20, 11}), (Rect{0, 2, 7, 9}));
  EXPECT_EQ(rules::clipped({4, 5, 6, 7}, {20, 20}), (Rect{4, 5, 6, 7}));
  EXPECT_LE(rules::clipped({25, 0, 5, 5}, {20, 20}).width, 0);
}

}  // namespace
}  // namespace facesat::test
