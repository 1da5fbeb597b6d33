// What is measured on a GPU: whether results of micro-benchmarks are plausible, and which launches
// the benchmark of SATs records.
#include <map>

#include <gtest/gtest.h>

#include "kernels/sat/model.hpp"
#include "lab/micro.hpp"
#include "lab/problems/jpeg.hpp"
#include "lab/problems/sat.hpp"
#include "media/codec_formats.hpp"
#include "tests/kit/pictures.hpp"

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

// ---- launches
namespace facesat::gpu {
namespace {

TEST(SatBench, RecordsLaunchesInTheirOrder) {
  const SatSubjects sats =
      sat_subjects({.type = SatType::u8_u32, .size = {64, 96}, .squares = true}, 0,
                   {"chen_2018_brlt_scanrow", "chen_2018_scanrow_column_ks", "kasagi_2014_1r1w"});
  const auto measured = lab::measure(sats.subjects, 3, sats.room);
  std::map<std::string, std::vector<SatLaunch>> launches;
  for (std::size_t i = 0; i < measured.size(); ++i) {
    EXPECT_EQ(measured[i].us.size(), 3u) << measured[i].failure;
    const std::string& id = sats.subjects[i].id;
    if (id == "floor" || id == "memcpy") continue;
    EXPECT_EQ(measured[i].all_right, true) << id;
    launches[id] = sats.launches(id, 3);
  }
  ASSERT_EQ(launches.size(), 3u);
  // Two launches for each of two tables.
  const std::array<const char*, 4> kernels{"scan_row_kernel", "scan_column_kernel",
                                           "scan_row_kernel", "scan_column_kernel"};
  ASSERT_EQ(launches["chen_2018_scanrow_column_ks"].size(), kernels.size());
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const auto& [figures, count, us] = launches["chen_2018_scanrow_column_ks"][i];
    EXPECT_EQ(figures.kernel, kernels[i]);
    EXPECT_EQ(count, 1);
    EXPECT_EQ(us.size(), 3u);
    EXPECT_GT(us.front(), 0);
  }
  const MicroFigures micro = measure_micro(0);
  ASSERT_EQ(launches["chen_2018_brlt_scanrow"].size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    const LaunchFigures& figures = launches["chen_2018_brlt_scanrow"][i].figures;
    EXPECT_EQ(figures.kernel, "scan_transpose_kernel");
    EXPECT_EQ(figures.grid, (std::array{1u, i % 2 == 0 ? 3u : 2u, 1u}));
    EXPECT_EQ(figures.block, (std::array{1024u, 1u, 1u}));
    EXPECT_GT(figures.registers, 32);  // a column of the register matrix
    EXPECT_GE(figures.static_bytes, (8 * 32 * 33 + 1024) * 4u);
    EXPECT_EQ(figures.dynamic_bytes, 0u);
    // Equation 8 agrees with CUDA.
    EXPECT_EQ(chen_active_warps(figures, micro),
              micro.multiprocessors * figures.resident_blocks * 32);
  }
  // 2 x 3 tiles, in one kernel for each of the two tables.
  ASSERT_EQ(launches["kasagi_2014_1r1w"].size(), 2u);
  for (const auto& [figures, count, us] : launches["kasagi_2014_1r1w"]) {
    EXPECT_EQ(count, 4);
    EXPECT_EQ(figures.grid, (std::array{2u, 1u, 1u}));
    EXPECT_TRUE(us.empty());
  }
}

// Rows that the command measures; wrong pixels are seen.
TEST(JpegBench, ChecksWhatTheKernelsDecode) {
  const std::vector<unsigned char> file =
      to_jpeg(test::coloured(test::drawn_faces({300, 200}).view()).view());
  const auto read = read_jpeg_stream(file, default_max_pixels);
  for (const bool is_wrong : {false, true}) {
    JpegCase one{file, Image<Bgr>({300, 200}), std::get<JpegStream>(read)};
    copy(read_jpeg(file).pixels, one.pixels.view());
    if (is_wrong) one.pixels.row(199)[299].r ^= 1;
    const auto put = [](const std::string&, double) {};
    const lab::GpuSubjects jpegs =
        jpeg_subjects(one, 0, {jpeg_coefficients_id, jpeg_pixels_id}, put);
    ASSERT_EQ(jpegs.subjects.size(), 3u);
    for (const lab::Measurement& measured : lab::measure(jpegs.subjects, 3, jpegs.room))
      EXPECT_EQ(measured.us.size(), 3u) << measured.failure;
    EXPECT_EQ(lab::measure(jpegs.subjects, 3, jpegs.room).back().all_right, !is_wrong);
  }
}

}  // namespace
}  // namespace facesat::gpu
