// Micro-benchmarks of a GPU: whether their results are plausible.
#include "kernels/bench/micro.hpp"

#include <gtest/gtest.h>

namespace facesat::test {
namespace {

// Lower bounds, half of what any GPU since Turing needs: a dependency chain that the compiler
// shortened would be below them. There are no upper bounds, because other work may share the
// device.
TEST(Micro, FiguresArePlausible) {
  const gpu::MicroFigures f = gpu::measure_micro(0);
  EXPECT_GE(f.multiprocessors, 1);
  EXPECT_GT(f.clock_hz, 0.1e9);
  EXPECT_LT(f.clock_hz, 10e9);
  EXPECT_GE(f.add, 2);
  EXPECT_GE(f.bit_and, 2);
  EXPECT_GE(f.shuffle, 10);
  EXPECT_GE(f.shared_read, 10);
  EXPECT_GE(f.l2_read, 80);
  EXPECT_GE(f.global_read, 160);
  for (const double bytes_per_s : {f.memcpy_bytes_per_s, f.kernel_copy_bytes_per_s}) {
    EXPECT_GT(bytes_per_s, 1e8);
    EXPECT_LT(bytes_per_s, 1e14);
  }
  EXPECT_GT(f.launch_us, 0.1);
}

}  // namespace
}  // namespace facesat::test
