// Micro-benchmarks of a GPU: whether their results are plausible.
#include "lab/micro.hpp"

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
  EXPECT_GE(f.limits.registers, 32768);
  EXPECT_GE(f.limits.shared_bytes, 32 << 10);
  EXPECT_GE(f.limits.blocks, 8);
  EXPECT_GE(f.limits.threads, 1024);
}

// A multiprocessor issues at most four instructions per clock, each for 32 lanes: operations that
// the compiler fused or removed would be faster. The clock may rise between two measurements, but
// not to twice its speed.
TEST(Micro, ThroughputsAreThoseOfTheWholeChip) {
  const gpu::MicroFigures f = gpu::measure_micro(0);
  const double most = 2 * 4 * 32 * f.multiprocessors * f.clock_hz;
  for (const double per_s : {f.shuffles_per_s, f.adds_per_s, f.ands_per_s, f.f32_adds_per_s,
                             f.f64_adds_per_s, f.shared_bytes_per_s / 4}) {
    EXPECT_GT(per_s, 1e8);
    EXPECT_LT(per_s, most);
  }
  // A single warp, which waits for each result, would have 32 per latency.
  EXPECT_GT(f.adds_per_s, 32 / f.add * f.clock_hz);
  EXPECT_GT(f.shuffles_per_s, 32 / f.shuffle * f.clock_hz);
  EXPECT_GT(f.shared_bytes_per_s, 4 * 32 / f.shared_read * f.clock_hz);
}

}  // namespace
}  // namespace facesat::test
