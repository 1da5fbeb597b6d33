#include "core/memory.hpp"

#include <fstream>
#include <limits>
#include <string>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include "facesat/types.hpp"

namespace facesat::test {
namespace {

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

}  // namespace
}  // namespace facesat::test
