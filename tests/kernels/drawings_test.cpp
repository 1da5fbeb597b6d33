// Drawings of algorithms are those that their kernels make.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <sstream>
#include <utility>

#include <gtest/gtest.h>

#include "core/image.hpp"
#include "kernels/drawings/drawing.hpp"
#include "kernels/filter/algorithm.hpp"
#include "kernels/filter/integral_histogram.hpp"
#include "kernels/sat/algorithm.hpp"
#include "kernels/scan/algorithm.hpp"
#include "tests/kit/device_memory.hpp"
#include "tests/kit/pictures.hpp"

namespace facesat::test {
namespace {

namespace fs = std::filesystem;

// What is left of accesses after optimisation, and random orders, are matters of the compiler: the
// drawings in the repository are made with this one.
constexpr bool makes_the_same = FACESAT_RECORDS_ACCESSES && __GNUC__ == 12;

fs::path path_of(const std::string& file) {
  return fs::path(FACESAT_KERNELS) / file;
}

// Compares with the file in the repository, or writes it if FACESAT_DRAWINGS says so.
void expect_file(const std::string& file, const std::string& drawing) {
  const fs::path path = path_of(file);
  if (std::getenv("FACESAT_DRAWINGS") != nullptr) {
    fs::create_directories(path.parent_path());
    EXPECT_TRUE(std::ofstream(path) << drawing) << path;
    return;
  }
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  EXPECT_TRUE(text.str().starts_with("<svg") && drawing.starts_with("<svg")) << path;
  if (makes_the_same) {
    EXPECT_TRUE(text.str() == drawing)
        << path << " is not what its kernels do: ./dev drawings makes it";
  }
}

template <class T>
drawings::Buffer buffer_of(const char* name, View<T> view) {
  return {name, view.data, view.size, sizeof(T), static_cast<std::size_t>(view.pitch) * sizeof(T)};
}
template <class T>
drawings::Buffer buffer_of(const char* name, const std::vector<T>& array) {
  return {
      name, array.data(), {static_cast<int>(array.size()), 1}, sizeof(T), array.size() * sizeof(T)};
}

// The most blocks that write the result, the second buffer, in one launch.
std::size_t most_writers(const std::vector<drawings::Launch>& launches) {
  std::size_t most = 0;
  for (const drawings::Launch& launch : launches) {
    std::set<unsigned> writers;
    for (const drawings::Element& element : launch.buffers[1])
      writers.insert(element.writes.begin(), element.writes.end());
    most = std::max(most, writers.size());
  }
  return most;
}

struct Drawn {
  std::string text;
  std::size_t blocks;  // that write the result in one launch
};

// The first of draw(1), draw(2), draw(4) ... draw(most) that has two rows of three blocks.
template <class Draw>
std::string with_enough_blocks(int most, Draw draw) {
  for (int factor = 1;; factor *= 2)
    if (const Drawn drawn = draw(factor); drawn.blocks >= 6 || factor >= most) return drawn.text;
}

// While it lives, blocks that stay for many tiles take turns. In order, the first would do them
// all.
struct TakingTurns {
  explicit TakingTurns(bool do_they) {
    if (do_they) simt::set_schedule({simt::Order::random, 1, 3});
  }
  ~TakingTurns() { simt::set_schedule({}); }
  TakingTurns(const TakingTurns&) = delete;
  TakingTurns& operator=(const TakingTurns&) = delete;
};

// The memory of a SAT algorithm, and its call.
struct SatRun {
  SatRun(const gpu::SatAlgorithm& a, Size size)
      : algorithm(a),
        picture(noise(size, 1)),
        table(size, 0),
        workspace(a.workspace_bytes(gpu::SatType::u8_u32, size) / 4) {}

  void operator()() {
    algorithm.enqueue({.type = gpu::SatType::u8_u32,
                       .size = picture.size(),
                       .input = picture.view().data,
                       .input_pitch = picture.view().pitch,
                       .sum = table.view().data,
                       .sum_pitch = table.view().pitch,
                       .parameter = algorithm.value},
                      workspace.data(), test_stream());
  }

  const gpu::SatAlgorithm& algorithm;
  const Image<std::uint8_t> picture;
  const DevicePicture<std::uint32_t> table;
  std::vector<std::uint32_t> workspace;
};

Drawn draw(const gpu::SatAlgorithm& algorithm, Size size) {
  SatRun run(algorithm, size);
  const std::vector<drawings::Buffer> buffers{buffer_of("picture", run.picture.view()),
                                              buffer_of("table", run.table.view()),
                                              buffer_of("workspace", run.workspace)};
  const auto launches = drawings::record(buffers, [&] { run(); });
  EXPECT_GT(most_writers(launches), 0u);
  return {drawings::draw_memory(buffers, launches), most_writers(launches)};
}

class SatDrawings : public ::testing::TestWithParam<const gpu::SatAlgorithm*> {};

TEST_P(SatDrawings, AreThoseOfTheKernels) {
  if (!FACESAT_RECORDS_ACCESSES) GTEST_SKIP() << "this build records no accesses to memory";
  const gpu::SatAlgorithm& algorithm = *GetParam();
  const bool is_of_elements = algorithm.id == "kasagi_2014_4r1w",  // on the 9 x 9 of the paper
      is_small = algorithm.id == "facesat_one_exchange";  // leaves large pictures to the look-back
  const Size size = is_of_elements ? Size{9, 9} : is_small ? Size{144, 80} : Size{96, 64};
  const TakingTurns turns(algorithm.id == "funasaka_2017_skss");
  expect_file("sat/drawings/" + std::string(algorithm.id) + ".svg",
              with_enough_blocks(is_of_elements || is_small ? 1 : 8, [&](int factor) {
                return draw(algorithm, {factor * size.width, factor * size.height});
              }));
}

TEST(BankDrawings, AreThoseOfTheTransposition) {
  SatRun run(gpu::chen_2018_brlt_scanrow, {64, 64});
  expect_file("sat/drawings/chen_2018_brlt_scanrow.banks.svg",
              drawings::draw_banks(drawings::record_warp([&] { run(); })));
}

// Kasagi et al.'s lemma 1, the buffers of 32 x 33 of Chen et al., and squares in shared memory.
TEST(BankConflicts, ThereAreNoneWhereThePapersSaySo) {
  for (const auto& [algorithm, launch] : {std::pair{&gpu::kasagi_2014_4r4w, 1u},
                                          {&gpu::kasagi_2014_2r1w, 0u},
                                          {&gpu::kasagi_2014_2r1w, 3u},
                                          {&gpu::kasagi_2014_1r1w, 0u},
                                          {&gpu::chen_2018_brlt_scanrow, 0u},
                                          {&gpu::chen_2018_scanrow_brlt_ks, 0u},
                                          {&gpu::chen_2018_scanrow_brlt_lf, 1u},
                                          {&gpu::funasaka_2017_2r1w, 0u}}) {
    SatRun run(*algorithm, {96, 96});
    const auto accesses = drawings::record_warp([&] { run(); }, launch);
    EXPECT_GT(accesses.size(), 30u) << algorithm->id;
    for (const drawings::WarpAccess& access : accesses)
      EXPECT_EQ(access.turns(), 1) << algorithm->id << ", launch " << launch;
  }
  // Whole columns of a square without padding are in one bank.
  drawings::WarpAccess column;
  for (unsigned lane = 0; lane < 32; ++lane) column.words.push_back(32 * lane);
  EXPECT_EQ(column.turns(), 32);
  EXPECT_EQ((drawings::WarpAccess{false, {7, 7, 7}}.turns()), 1);  // a broadcast
}

INSTANTIATE_TEST_SUITE_P(Registry, SatDrawings, ::testing::ValuesIn(gpu::sat_algorithms()),
                         [](const auto& tested) { return std::string(tested.param->id); });

// Whether as many blocks as are resident take all tiles.
bool blocks_stay(const gpu::ScanAlgorithm& algorithm) {
  constexpr std::string_view ids[] = {"facesat_scan", "liu_2016_lightscan", "maleki_2016_sam"};
  return std::ranges::find(ids, algorithm.id) != std::end(ids);
}

// With the fewest blocks that can be chosen, because a block of few elements is hardly seen; where
// blocks stay, with the smallest tiles.
gpu::ScanTask scan_task(const gpu::ScanAlgorithm& algorithm, int n) {
  gpu::ScanTask task{.n = n, .settings = gpu::standard_settings(algorithm)};
  for (std::size_t i = 0; i < algorithm.parameters.size(); ++i)
    if (const std::string_view name = algorithm.parameters[i].name;
        name == "blocks" || name == "top" || blocks_stay(algorithm))
      task.settings[i] = algorithm.parameters[i].choices.front();
  return task;
}

Drawn draw(const gpu::ScanAlgorithm& algorithm, int n) {
  gpu::ScanTask task = scan_task(algorithm, n);
  std::vector<std::uint32_t> input(static_cast<std::size_t>(n), 1), output(input.size()),
      workspace(algorithm.workspace_bytes(task) / 4);
  task.input = input.data();
  task.output = output.data();
  const std::vector<drawings::Buffer> buffers{
      buffer_of("input", input), buffer_of("output", output), buffer_of("workspace", workspace)};
  const auto launches =
      drawings::record(buffers, [&] { algorithm.enqueue(task, workspace.data(), test_stream()); });
  EXPECT_GT(most_writers(launches), 0u);
  return {drawings::draw_memory(buffers, launches), most_writers(launches)};
}

class ScanDrawings : public ::testing::TestWithParam<const gpu::ScanAlgorithm*> {};

TEST_P(ScanDrawings, AreThoseOfTheKernels) {
  if (!FACESAT_RECORDS_ACCESSES) GTEST_SKIP() << "this build records no accesses to memory";
  const gpu::ScanAlgorithm& algorithm = *GetParam();
  const bool do_stay = blocks_stay(algorithm);
  const TakingTurns turns(do_stay);
  expect_file("scan/drawings/" + std::string(algorithm.id) + ".svg",
              with_enough_blocks(do_stay ? 1 : 32, [&](int factor) {
                return draw(algorithm, factor * (do_stay ? 16384 : 2048));
              }));
}

TEST_P(ScanDrawings, OfTheFlowOfValuesAreThoseOfTheKernels) {
  const gpu::ScanAlgorithm& algorithm = *GetParam();
  constexpr int n = 4096;  // so that no block has elements past the end
  gpu::ScanTask task = scan_task(algorithm, n);
  std::vector<std::uint32_t> input(n), output(n), workspace(algorithm.workspace_bytes(task) / 4);
  std::ranges::generate(input, std::mt19937(1));
  task.input = input.data();
  task.output = output.data();
  const std::string drawing = drawings::draw_flow(
      drawings::record_flow([&] { algorithm.enqueue(task, workspace.data(), test_stream()); }));
  const std::string file = "scan/drawings/" + std::string(algorithm.id) + ".flow.svg";
  if (!drawing.empty()) return expect_file(file, drawing);
  EXPECT_FALSE(fs::exists(path_of(file))) << "threads do not exchange values";
}

INSTANTIATE_TEST_SUITE_P(Registry, ScanDrawings, ::testing::ValuesIn(gpu::scan_algorithms()),
                         [](const auto& tested) { return std::string(tested.param->id); });

class FilterDrawings : public ::testing::TestWithParam<const gpu::FilterAlgorithm*> {};

Drawn draw(const gpu::FilterAlgorithm& algorithm, Size size) {
  constexpr int r = 2;
  const Image<std::uint8_t> picture = noise(size, 1);
  Image<std::int32_t> output(size);
  const std::vector<std::int32_t> ones((2 * r + 1) * (2 * r + 1), 1);
  gpu::FilterTask task{.type = gpu::FilterType::u8_s32,
                       .size = size,
                       .input = picture.view().data,
                       .input_pitch = picture.view().pitch,
                       .output = output.view().data,
                       .output_pitch = output.view().pitch,
                       .border = Border::zero};
  task.mask = {.kind = algorithm.takes,
               .radius = algorithm.is_1d ? Radius{r, 0} : Radius{r, r},
               .weights = ones.data(),
               .row = ones.data(),
               .column = ones.data(),
               .host_weights = ones.data(),
               .host_row = ones.data(),
               .host_column = ones.data()};
  EXPECT_EQ(gpu::why_not(algorithm, task), "");
  std::vector<std::uint32_t> workspace(algorithm.workspace_bytes(task) / 4);
  const std::vector<drawings::Buffer> buffers{
      buffer_of("picture", picture.view()), buffer_of("result", std::as_const(output).view()),
      buffer_of("mask", ones), buffer_of("workspace", workspace)};
  const auto launches =
      drawings::record(buffers, [&] { algorithm.enqueue(task, workspace.data(), test_stream()); });
  EXPECT_GT(most_writers(launches), 0u);
  return {drawings::draw_memory(buffers, launches), most_writers(launches)};
}

TEST_P(FilterDrawings, AreThoseOfTheKernels) {
  if (!FACESAT_RECORDS_ACCESSES) GTEST_SKIP() << "this build records no accesses to memory";
  const gpu::FilterAlgorithm& algorithm = *GetParam();
  expect_file("filter/drawings/" + std::string(algorithm.id) + ".svg",
              with_enough_blocks(8, [&](int factor) {
                return draw(algorithm, {factor * 96, factor * 64});
              }));
}

INSTANTIATE_TEST_SUITE_P(Registry, FilterDrawings, ::testing::ValuesIn(gpu::filter_algorithms()),
                         [](const auto& tested) { return std::string(tested.param->id); });

class HistogramDrawings : public ::testing::TestWithParam<gpu::HistogramScanInfo> {};

Drawn draw(gpu::HistogramScan scan, Size size) {
  constexpr int bins = 3;
  const Image<std::uint8_t> picture = noise(size, 1);
  std::vector<std::uint32_t> memory(gpu::integral_histogram_bytes(size, bins) / 4),
      workspace(gpu::histogram_workspace_bytes(scan, size, bins) / 4);
  const gpu::IntegralHistogram tables = gpu::integral_histogram_in(memory.data(), size, bins);
  std::vector<drawings::Buffer> buffers{buffer_of("picture", picture.view())};
  for (int bin = 0; bin < bins; ++bin)
    buffers.push_back(buffer_of(("bin " + std::to_string(bin)).c_str(),
                                View<std::uint32_t>{tables.row(bin, 0), size, tables.pitch}));
  buffers.push_back(buffer_of("workspace", workspace));
  const auto launches = drawings::record(buffers, [&] {
    enqueue_integral_histogram(picture.view(), tables, scan, workspace.data(), test_stream());
  });
  EXPECT_GT(most_writers(launches), 0u);
  return {drawings::draw_memory(buffers, launches), most_writers(launches)};
}

TEST_P(HistogramDrawings, AreThoseOfTheKernels) {
  if (!FACESAT_RECORDS_ACCESSES) GTEST_SKIP() << "this build records no accesses to memory";
  const auto& [scan, id, title] = GetParam();
  const bool has_many_launches = scan == gpu::HistogramScan::cw_b;
  const Size size = has_many_launches ? Size{64, 32} : Size{96, 64};
  expect_file("filter/drawings/integral_histogram_" + std::string(id) + ".svg",
              with_enough_blocks(has_many_launches ? 1 : 8, [&, scan = scan](int factor) {
                return draw(scan, {factor * size.width, factor * size.height});
              }));
}

INSTANTIATE_TEST_SUITE_P(Orders, HistogramDrawings, ::testing::ValuesIn(gpu::histogram_scans),
                         [](const auto& tested) { return std::string(tested.param.id); });

}  // namespace
}  // namespace facesat::test
