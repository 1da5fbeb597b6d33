// The contract of kernels/sat/algorithm.hpp, for every algorithm in the registry.
#include "lab/problems/sat.hpp"

#include <cmath>
#include <limits>
#include <set>
#include <tuple>
#include <type_traits>

#include "kernels/sat/model.hpp"
#include "kernels/sat/pass.cuh"
#include "tests/kit/device_memory.hpp"
#include "tests/kit/messages.hpp"
#include "tests/kit/printers.hpp"
#include "tests/kit/reference.hpp"

namespace facesat::test {
namespace {

using gpu::SatAlgorithm;
using gpu::SatTask;
using gpu::SatType;

// Which tables are computed.
enum Wanted { the_sum = 1, the_squares = 2, both = 3 };

enum class Schedules { one, all, halted };

// Calls use(sum, squared_sum) with the device tables that `algorithm` has just written. On a GPU,
// and on the host with one schedule, the workspace has been used for another picture before.
template <class Out, class In, class Use>
void run(const SatAlgorithm& algorithm, SatType type, View<const In> picture, Wanted wanted,
         Schedules schedules, Use use) {
  const Image<In> other =
      formula<In>(picture.size, [&](int x, int y) { return picture.row(y)[x] + In{1}; });
  DevicePicture<In> input(picture.size, static_cast<In>(77));
  const auto body = [&] {
    DevicePicture<Out> sum(picture.size, Out{}), squared_sum(picture.size, Out{});
    DeviceArray<std::byte> workspace(
        std::vector<std::byte>(algorithm.workspace_bytes(type, picture.size)));
    const bool reuses = on_gpu || schedules == Schedules::one;
    for (int round = 0; round < (on_gpu ? 3 : reuses ? 2 : 1); ++round) {
      const bool is_other = reuses && round == 0;
      input.upload(is_other ? other.view() : picture);
      sum.clear();
      squared_sum.clear();
      SatTask task{.type = type,
                   .size = picture.size,
                   .input = input.view().data,
                   .input_pitch = input.view().pitch,
                   .parameter = algorithm.value};
      if (wanted & the_sum) {
        task.sum = sum.view().data;
        task.sum_pitch = sum.view().pitch;
      }
      if (wanted & the_squares) {
        task.squared_sum = squared_sum.view().data;
        task.squared_pitch = squared_sum.view().pitch;
      }
      algorithm.enqueue(task, workspace.data(), test_stream());
      if (!is_other) use(sum, squared_sum);
    }
  };
  if (schedules == Schedules::all)
    under_all_schedules(body);
  else if (schedules == Schedules::halted)
    with_a_halted_block(body);
  else
    under_one_schedule(body);
}

template <class Out, class In>
void check(const SatAlgorithm& algorithm, SatType type, View<const In> picture, Wanted wanted,
           Schedules schedules = Schedules::one) {
  const std::string what = std::string(algorithm.id) + ":" + std::to_string(algorithm.value) +
                           ", " + std::string(gpu::info_of(type).name) + " " +
                           ::testing::PrintToString(picture.size);
  const Image<Out> sum = reference::sat<Out>(picture), squares = reference::sat<Out>(picture, true);
  run<Out>(algorithm, type, picture, wanted, schedules,
           [&](const DevicePicture<Out>& out_sum, const DevicePicture<Out>& out_squares) {
             if (wanted & the_sum) out_sum.expect(sum.view(), what + ", sum");
             if (wanted & the_squares) out_squares.expect(squares.view(), what + ", squared sum");
           });
}

Image<std::uint8_t> noise_of(Size size) {
  return noise(size, static_cast<unsigned>(size.width * 31 + size.height));
}

void check_bytes(const SatAlgorithm& algorithm, View<const std::uint8_t> picture,
                 Schedules schedules = Schedules::one) {
  check<std::uint32_t>(algorithm, SatType::u8_u32, picture, both, schedules);
}

// Noise of the input's type. In tests of real numbers, pixels are small integers, and in large
// pictures mostly 0, so that sums are exact in any order.
template <class In, class Out>
Image<In> exact_noise(Size size) {
  const Image<std::uint8_t> bytes = noise_of(size);
  const bool is_small = size.area() < 60000;
  return formula<In>(size, [&](int x, int y) {
    const unsigned byte = bytes.row(y)[x];
    return std::is_floating_point_v<Out> ? (is_small ? byte & 15 : byte < 16)
           : sizeof(In) > 1              ? byte * 0x01234567u + 0x89ABCDEFu
                                         : byte;
  });
}

class Sat : public ::testing::TestWithParam<const SatAlgorithm*> {};

TEST_P(Sat, SizesAroundTileEdges) {  // tile edges: 4, 32, 64, 128 and 512
  for (const Size size :
       {Size{1, 1}, {1, 70}, {133, 1}, {3, 5}, {33, 31}, {64, 32}, {130, 66}, {133, 129}})
    check_bytes(*GetParam(), noise_of(size).view(), Schedules::all);
  check_bytes(*GetParam(), noise_of({517, 131}).view());
  if (on_gpu)
    for (const Size size :
         {Size{32, 32}, {31, 33}, {63, 65}, {128, 64}, {129, 65}, {260, 129}, {1023, 1025}})
      check_bytes(*GetParam(), noise_of(size).view());
  if (on_gpu)
    for (const Size size : {Size{1919, 1079},
                            {1280, 720},
                            {4096, 4096},
                            {4099, 4093},
                            {1920, 6528},
                            {97, 20011},
                            {20011, 97},
                            {8191, 1023}})
      check_bytes(*GetParam(), noise_of(size).view());
}

TEST_P(Sat, AllTypesAndTables) {
  std::vector<Size> sizes{{7, 3}, {67, 35}};
  if (on_gpu) sizes.insert(sizes.end(), {{1, 1}, {64, 128}, {131, 67}, {1023, 517}, {2048, 2048}});
  for (const Size size : sizes)
    for (const gpu::SatTypeInfo& info : gpu::sat_types)
      gpu::visit_types(info.type, [&]<class In, class Out>(In, Out) {
        const Image<In> picture = exact_noise<In, Out>(size);
        check<Out>(*GetParam(), info.type, picture.view(), the_sum);
        if (sizeof(In) > 1) return;
        check<Out>(*GetParam(), info.type, picture.view(), the_squares);
        check<Out>(*GetParam(), info.type, picture.view(), both);
      });
}

TEST_P(Sat, RowsLongerThanABlock) {
  const Size size{1100, 2};
  check<std::uint32_t>(*GetParam(), SatType::u8_u32,
                       View<const std::uint8_t>(noise_of(size).view()), the_sum);
  const Image<float> picture = exact_noise<float, float>(size);
  check<float>(*GetParam(), SatType::f32_f32, picture.view(), the_sum);
}

// More tiles in a row or column than a block reads at once, and sums as large as a tile can have.
// Where a row or column has a block of its own, thousands take long on the host.
TEST_P(Sat, ManyTiles) {
  const bool waits = GetParam()->launches == 1 || GetParam() == &gpu::tokura_2018;
  if (!on_gpu && !waits) GTEST_SKIP() << "its tiles do not wait for each other";
  std::vector<Size> sizes{{2200, 3}, {3, 2200}, {2200, 8}, {4, 4300}};
  if (on_gpu) sizes.insert(sizes.end(), {{2119, 2113}, {1100, 4001}, {31000, 140}, {140, 31000}});
  for (const Size size : sizes) {
    const Image<std::uint8_t> picture = noise_of(size);
    check<std::uint32_t>(*GetParam(), SatType::u8_u32, picture.view(), the_sum);
  }
  for (const Size size : {Size{140, 80}, {130, 130}}) {
    const Image<std::uint8_t> white = flat(size, 255);
    check<std::uint32_t>(*GetParam(), SatType::u8_s32, white.view(), the_sum);
  }
}

TEST_P(Sat, UniformPicturesCornersAndSumsThatWrap) {
  const Size size{on_gpu ? 140 : 70, on_gpu ? 70 : 40};
  for (const std::uint8_t value : {0, 255}) check_bytes(*GetParam(), flat(size, value).view());
  const auto impulses = formula<std::uint8_t>(size, [size](int x, int y) {
    return (x == 0 || x == size.width - 1) && (y == 0 || y == size.height - 1) ? 1 + x % 200 : 0;
  });
  check_bytes(*GetParam(), impulses.view());
  if (on_gpu) check_bytes(*GetParam(), flat({8300, 8300}, 255).view());  // sums wrap
}

// The rounding error of n additions is at most n * epsilon / 2 times the sum of magnitudes. An
// element is computed from partial sums of its row and column, in width + height successive
// additions, or from its three neighbours, in three additions for each element before it.
template <class Real>
void check_reals(const SatAlgorithm& algorithm, SatType type, Size size) {
  const Image<std::uint8_t> bytes = noise_of(size);
  const auto picture = formula<Real>(size, [&](int x, int y) {
    return static_cast<Real>(bytes.row(y)[x] - 100) / static_cast<Real>(7);
  });
  const auto magnitudes =
      formula<Real>(size, [&](int x, int y) { return std::abs(picture.row(y)[x]); });
  const auto exact = reference::sat<long double>(picture.view()),
             most = reference::sat<long double>(magnitudes.view());
  const bool of_neighbours = algorithm.reads >= 4 && algorithm.writes <= 1;
  run<Real>(algorithm, type, picture.view(), the_sum, Schedules::one,
            [&](const DevicePicture<Real>& sum, const DevicePicture<Real>&) {
              const Image<Real> table = sum.inside();
              for (int y = 0; y < size.height; ++y)
                for (int x = 0; x < size.width; ++x) {
                  const double additions =
                      of_neighbours ? 3.0 * (x + 1) * (y + 1) : size.width + size.height;
                  const long double bound =
                      additions * std::numeric_limits<Real>::epsilon() / 2 * most.row(y)[x];
                  ASSERT_LE(std::abs(table.row(y)[x] - exact.row(y)[x]), bound)
                      << algorithm.id << " at " << x << ", " << y;
                }
            });
}

TEST_P(Sat, RealNumbersAreWithinTheRoundingError) {
  const Size size = on_gpu ? Size{515, 263} : Size{67, 35};
  check_reals<float>(*GetParam(), SatType::f32_f32, size);
  check_reals<double>(*GetParam(), SatType::f64_f64, size);
}

INSTANTIATE_TEST_SUITE_P(Registry, Sat,
                         ::testing::ValuesIn(gpu::sat_algorithms().begin(),
                                             gpu::sat_algorithms().end()),
                         [](const auto& tested) { return std::string(tested.param->id); });

#if !defined(FACESAT_SIMT)
INSTANTIATE_TEST_SUITE_P(Cub, Sat, ::testing::Values(&gpu::peer_cub),
                         [](const auto& tested) { return std::string(tested.param->id); });
#endif

SatAlgorithm with_value(SatAlgorithm algorithm, double value) {
  algorithm.value = value;
  return algorithm;
}

// The limits of an algorithm's parameter, what its paper has figures for, and what is worth
// measuring for pictures of a size. On the host, where every thread costs a fibre, not the largest
// blocks.
std::vector<double> values_of(const gpu::SatParameter& parameter, Size size) {
  std::vector<double> values{parameter.least, parameter.greatest};
  values.insert(values.end(), parameter.published.begin(), parameter.published.end());
  const std::vector<double> candidates = parameter.values_for(size, 24);
  values.insert(values.end(), candidates.begin(), candidates.end());
  if (!on_gpu && parameter.name == "threads")
    std::erase_if(values, [](double v) { return v > 128; });
  return values;
}

TEST(SatParameters, TablesAreRightForEveryValue) {
  for (const SatAlgorithm* algorithm : gpu::sat_algorithms()) {
    if (!algorithm->parameter) continue;
    // Launches for each anti-diagonal, of many fibres each, would take long.
    const bool is_slow = !on_gpu && algorithm->parameter->name == "threads";
    std::vector<Size> sizes{{1, 1}, {33, 1}, {97, 97}, {1, 100}, {300, 7}};
#ifndef __SANITIZE_ADDRESS__
    sizes.insert(sizes.end(), {{7, 300}, {200, 70}, {70, 200}});
#endif
    for (const Size size : sizes) {
      if (is_slow && size.area() > 100 && size != Size{97, 97}) continue;
      for (const double value : values_of(*algorithm->parameter, size))
        check_bytes(with_value(*algorithm, value), noise_of(size).view());
    }
    check_bytes(with_value(*algorithm, algorithm->parameter->least), noise_of({97, 70}).view(),
                Schedules::all);
    check_bytes(with_value(*algorithm, algorithm->parameter->least), noise_of({1100, 9}).view());
    check_reals<double>(with_value(*algorithm, algorithm->parameter->least), SatType::f64_f64,
                        {67, 35});
  }
}

TEST(SatParameters, AreThoseOfTheRegistry) {
  for (const SatAlgorithm* algorithm : gpu::sat_algorithms()) {
    if (!algorithm->parameter) continue;
    const gpu::SatParameter& parameter = *algorithm->parameter;
    const auto is_valid = [&](double value) {
      return value >= parameter.least && value <= parameter.greatest;
    };
    EXPECT_TRUE(is_valid(algorithm->value)) << algorithm->id;
    for (const double value : parameter.published) EXPECT_TRUE(is_valid(value)) << algorithm->id;
    if (parameter.reads) {
      EXPECT_EQ(parameter.reads(algorithm->value), algorithm->reads) << algorithm->id;
    }
    for (const Size size : {Size{1, 1}, {64, 32}, {1000, 3}, {1920, 1080}, {32768, 32768}}) {
      const std::vector<double> values = parameter.values_for(size, 24);
      EXPECT_LE(values.size(), 24u) << algorithm->id;
      EXPECT_LE(values.size(), parameter.values_for(size, 1'000'000).size()) << algorithm->id;
      for (std::size_t i = 0; i < values.size(); ++i) {
        EXPECT_TRUE(is_valid(values[i])) << algorithm->id << ": " << values[i];
        EXPECT_GT(values[i], i > 0 ? values[i - 1] : -1) << algorithm->id;
      }
    }
  }
}

TEST(SatParameters, AreWrittenAfterTheId) {
  const gpu::SatChoice choice = gpu::choose_sat("kasagi_2014_hybrid:0.25");
  ASSERT_TRUE(choice.algorithm);
  EXPECT_EQ(choice.algorithm->id, "kasagi_2014_hybrid");
  EXPECT_EQ(choice.algorithm->value, 0.25);
  EXPECT_EQ(choice.algorithm->reads, 1.25);
  ASSERT_TRUE(gpu::choose_sat("kasagi_2014_hybrid").algorithm);
  EXPECT_EQ(gpu::choose_sat("kasagi_2014_hybrid").algorithm->value, gpu::kasagi_2014_hybrid.value);
  for (const auto& [text, said] : std::vector<std::pair<std::string, std::string>>{
           {"nosuch", "there is no such algorithm"},
           {"nosuch:0.5", "there is no such algorithm"},
           {"", "there is no such algorithm"},
           {"opencv_style:0.5", "opencv_style has no parameter"},
           {"opencv_style:", "opencv_style has no parameter"},
           {"facesat_lookback:2", "must be one of 0, 1"},
           {"kasagi_2014_hybrid:", "must be a number from 0 to 1"},
           {"kasagi_2014_hybrid:abc", "must be a number from 0 to 1"},
           {"kasagi_2014_hybrid:nan", "must be a number from 0 to 1"},
           {"kasagi_2014_hybrid:inf", "must be a number from 0 to 1"},
           {"kasagi_2014_hybrid:1.5", "must be a number from 0 to 1"},
           {"kasagi_2014_hybrid:-0.1", "must be a number from 0 to 1"},
           {"kasagi_2014_hybrid:0.5x", "must be a number from 0 to 1"},
           {"kasagi_2014_hybrid:0.5:0.5", "must be a number from 0 to 1"},
           {"kasagi_2014_1r1w:100", "must be one of 64, 128, 256, 512"}}) {
    const gpu::SatChoice refused = gpu::choose_sat(text);
    EXPECT_FALSE(refused.algorithm) << text;
    EXPECT_NE(refused.why_not.find(said), std::string::npos) << text << ": " << refused.why_not;
  }
}

#if defined(FACESAT_SIMT)
// A look-back computes itself what a halted block does not publish.
void check_with_a_halted_block(const SatAlgorithm& algorithm, Size size, Wanted wanted) {
  const Image<std::uint8_t> picture = noise_of(size);
  check<std::uint32_t, std::uint8_t>(algorithm, SatType::u8_u32, picture.view(), wanted,
                                     Schedules::halted);
}

TEST(SatFallback, NoBlockNeedsOneThatIsHalted) {
  for (const SatAlgorithm& algorithm :
       {gpu::facesat_one_exchange, gpu::facesat_lookback, gpu::facesat_tensor_cores,
        gpu::tokura_2018, with_value(gpu::emoto_2018_skss_lb, 1)})
    for (const auto& [size, wanted] :
         {std::pair{Size{130, 66}, the_sum}, {{130, 66}, the_squares}, {{700, 140}, the_sum}})
      check_with_a_halted_block(algorithm, size, wanted);
}

TEST(SatFallback, ItsParameterGivesItToBothTables) {
  for (const SatAlgorithm& algorithm :
       {gpu::facesat_one_exchange, gpu::facesat_lookback, gpu::facesat_tensor_cores})
    for (const Size size : {Size{130, 66}, {700, 140}})
      check_with_a_halted_block(with_value(algorithm, 1), size, both);
}

TEST(SatFallback, WithoutItBlocksWaitForOneThatIsHalted) {
  for (const SatAlgorithm& algorithm : {gpu::facesat_one_exchange, gpu::facesat_lookback,
                                        gpu::facesat_tensor_cores, gpu::emoto_2018_skss_lb}) {
    const std::string said = message_of<simt::Undefined>([&] {
      check_with_a_halted_block(algorithm, {700, 140}, both);
    });
    simt::set_schedule({});
    EXPECT_NE(said.find("waits for something that never comes"), std::string::npos)
        << algorithm.id << ": " << said;
  }
}

// Four launches for each corner, one for each anti-diagonal of tiles between them.
TEST(SatParameters, TheHybridsCornersFollowR) {
  for (const Size tiles : {Size{1, 1}, {4, 1}, {1, 5}, {4, 4}, {7, 3}, {3, 6}})
    for (const double r : {0.0, 1e-9, 0.25, 0.5, 0.99, 1.0}) {
      const int all = tiles.width + tiles.height - 1, corner = gpu::corner_diagonals(tiles, r),
                other = std::min(corner, all - corner);
      const std::size_t expected =
          (corner > 0 ? 4 : 0) + (all - corner - other) + (other > 0 ? 4 : 0);
      const std::size_t before = simt::counts.launches;
      const Image<std::uint8_t> picture = noise_of({32 * tiles.width, 32 * tiles.height - 5});
      run<std::uint32_t>(with_value(gpu::kasagi_2014_hybrid, r), SatType::u8_u32, picture.view(),
                         the_sum, Schedules::one, [](const auto&, const auto&) {});
      EXPECT_EQ(simt::counts.launches - before, 2 * expected)  // two rounds
          << ::testing::PrintToString(tiles) << " tiles, r = " << r;
    }
}

// Kasagi et al.'s table I, but for what kernels/sat/measurements.md says: per element, a transpose
// writes and reads once; the sums of a tile write once and read twice; a tile's SAT writes three
// times and reads three times, and its first row and column once more.
TEST(SatSharedMemory, AccessesPerElement) {
  const Size size{256, 256};
  const double n = 2.0 * size.area(), edges = 2.0 / 32;  // two rounds
  const auto r = [](double value) { return with_value(gpu::kasagi_2014_hybrid, value); };
  for (const auto& [algorithm, reads, writes] :
       {std::tuple{gpu::kasagi_2014_2r2w, 0.0, 0.0},
        {gpu::kasagi_2014_4r4w, 2.0, 2.0},
        {gpu::kasagi_2014_4r1w, 0.0, 0.0},
        {gpu::kasagi_2014_2r1w, 5 + edges, 4 + edges},
        {gpu::kasagi_2014_1r1w, 3 + edges, 3 + edges},
        {r(0), 3 + edges, 3 + edges},
        {r(20.0 / 64), 3 + edges + 2 * 20.0 / 64, 3 + edges + 20.0 / 64},
        {r(1), 5 + edges, 4 + edges},
        {gpu::funasaka_2017_2r1w, 3.0, 3.0}}) {
    const simt::Counts before = simt::counts;
    const Image<std::uint8_t> picture = noise_of(size);
    run<std::uint32_t>(algorithm, SatType::u8_u32, picture.view(), the_sum, Schedules::one,
                       [](const auto&, const auto&) {});
    const simt::Counts& after = simt::counts;
    EXPECT_EQ(static_cast<double>(after.shared_reads - before.shared_reads) / n, reads)
        << algorithm.id << ":" << algorithm.value;
    EXPECT_EQ(static_cast<double>(after.shared_writes - before.shared_writes) / n, writes)
        << algorithm.id << ":" << algorithm.value;
  }
}
#endif

TEST(SatRegistry, IdsAreUniqueAndFound) {
  std::set<std::string_view> ids;
  for (const SatAlgorithm* algorithm : gpu::sat_algorithms()) {
    EXPECT_TRUE(ids.insert(algorithm->id).second) << algorithm->id;
    EXPECT_EQ(gpu::find_sat(algorithm->id), algorithm);
    EXPECT_GE(algorithm->launches, 0);
  }
  EXPECT_EQ(gpu::find_sat("no such algorithm"), nullptr);
  for (const gpu::SatTypeInfo& info : gpu::sat_types) EXPECT_EQ(&gpu::info_of(info.type), &info);
}

}  // namespace
}  // namespace facesat::test
