// The whole flow through the kernels, from the grey image to windows, against the CPU backend: on a
// GPU and, for small pictures, on the host.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>
#include <variant>

#include <gtest/gtest.h>

#include "core/backend.hpp"
#include "core/grouping.hpp"
#include "facesat.hpp"
#include "kernels/cascade/evaluate.hpp"
#include "kernels/cascade/group_windows.hpp"
#include "kernels/cascade/late_stages.hpp"
#include "kernels/cascade/tile.cuh"
#include "kernels/image/steps.hpp"
#include "kernels/sat/algorithm.hpp"
#include "tests/kernels/cascade/uploaded_late.hpp"
#include "tests/kit/cascades.hpp"
#include "tests/kit/compare.hpp"
#include "tests/kit/device_memory.hpp"
#include "tests/kit/pictures.hpp"
#include "tests/kit/printers.hpp"

namespace facesat::test {
namespace {

using gpu::Candidate;
using gpu::CompiledCascade;

// A picture, a cascade, and how to evaluate them.
struct Scene {
  const Cascade& cascade;
  const Pyramid& pyramid;
  gpu::AtlasPlan atlas;
  DetectOptions options;
  View<const std::uint8_t> gray;
};

// The results of one side: the CPU backend or the kernels.
struct Answer {
  std::vector<Window> windows;
  std::vector<Rect> boxes;  // of the windows
  std::vector<Face> faces;
  std::vector<Image<std::uint32_t>> depths;  // of each level
};

Answer on_cpu(const Scene& scene) {
  const auto backend = make_cpu_backend();
  // The cascade is only borrowed, because the scene outlives the backend.
  backend->prepare({std::shared_ptr<const Cascade>(), &scene.cascade}, scene.pyramid,
                   scene.options);
  backend->load(scene.gray);
  backend->run();
  Answer answer;
  backend->collect();
  const std::span<const Window> found = backend->windows();
  answer.windows.assign(found.begin(), found.end());
  for (const Window& window : found) answer.boxes.push_back(window.box);
  answer.faces = group_faces(answer.windows, 2);  // 2: min_neighbors
  for (int i = 0; i < static_cast<int>(scene.pyramid.levels.size()); ++i)
    answer.depths.push_back(backend->snapshot(Snapshot::depth, i));
  return answer;
}

template <class T>
std::vector<std::byte> bytes_of(const std::vector<T>& from) {
  const auto bytes = std::as_bytes(std::span(from));
  return {bytes.begin(), bytes.end()};
}

// A cascade compiled for one step (1 or 2 pixels between windows), in device memory.
class Uploaded {
 public:
  Uploaded(const Cascade& cascade, const gpu::PatchLayout& layout)
      : compiled(gpu::compile_cascade(cascade, layout)),
        layout_(layout),
        nodes_(std::visit([](const auto& nodes) { return bytes_of(nodes); }, compiled.nodes)),
        general_(compiled.general),
        roots_(compiled.roots),
        leaves_(compiled.leaves),
        stages_(compiled.stages) {}

  // with_parameters: the first stages are passed as launch parameters.
  gpu::StepCascade get(bool with_parameters) {
    gpu::StepCascade step = gpu::describe(compiled, layout_);
    if (!with_parameters) step.parameter_stages = 0;
    step.nodes = nodes_.data();
    step.general = general_.data();
    step.roots = roots_.data();
    step.leaves = leaves_.data();
    step.stages = stages_.data();
    return step;
  }

  CompiledCascade compiled;

 private:
  gpu::PatchLayout layout_;
  DeviceArray<std::byte> nodes_;
  DeviceArray<gpu::GeneralFeature> general_;
  DeviceArray<std::int32_t> roots_;
  DeviceArray<std::int64_t> leaves_;
  DeviceArray<gpu::CompiledStage> stages_;
};

constexpr std::uint32_t capacity = 1 << 16;  // of candidates and of windows

Answer on_device(const Scene& scene, UploadedLate* late) {
  const Pyramid& pyramid = scene.pyramid;
  const gpu::EvaluatePlan plan = gpu::plan_evaluate(pyramid, scene.atlas, scene.cascade);
  Uploaded step_1(scene.cascade, plan.layout[0]), step_2(scene.cascade, plan.layout[1]);
  DeviceArray<gpu::EvaluateLevel> levels(plan.levels);
  DeviceArray<gpu::EvaluateTile> tiles(plan.tiles);
  DeviceArray<std::uint32_t> rejected(std::vector<std::uint32_t>(plan.words + 1, poison));
  DeviceArray<Candidate> candidates{std::vector<Candidate>(capacity)};
  DeviceArray<Candidate> windows{std::vector<Candidate>(capacity)};
  DeviceArray<std::uint32_t> candidate_count(std::vector<std::uint32_t>{0});
  DeviceArray<gpu::WindowCounts> counts(std::vector<gpu::WindowCounts>{{poison, poison, poison}});
  DevicePicture<std::uint8_t> gray(pyramid.image, 0);
  gray.upload(scene.gray);

  Answer answer;
  for (std::size_t g = 0; g < scene.atlas.groups.size(); ++g) {
    const Size size = scene.atlas.groups[g].atlas;
    DevicePicture<std::uint8_t> atlas(size, 0);
    DevicePicture<std::uint32_t> sum(size, 0), squared_sum(size, 0), tilted_sum(size, 0);
    const gpu::ResizePlan resize = gpu::plan_resize(pyramid, scene.atlas, scene.atlas.groups[g]);
    DeviceArray<gpu::ResizeLevel> resize_levels(resize.levels);
    DeviceArray<gpu::FourTaps> taps(resize.taps);
    DeviceArray<gpu::ResizeTile> resize_tiles(resize.tiles);
    gpu::enqueue_resize(gray.view(), atlas.view(),
                        {resize_levels.data(), taps.data(), resize_tiles.data(),
                         static_cast<int>(resize.tiles.size())},
                        test_stream());
    const gpu::SatAlgorithm& sat = *gpu::sat_algorithms().front();
    DeviceArray<std::byte> workspace(
        std::vector<std::byte>(sat.workspace_bytes(gpu::SatType::u8_u32, size)));
    sat.enqueue(gpu::both_tables(atlas.view(), sum.view(), squared_sum.view()), workspace.data(),
                test_stream());
    gpu::enqueue_tilted(atlas.view(), tilted_sum.view(), test_stream());

    gpu::EvaluateTask task{};
    task.sum = sum.view();
    task.squared_sum = squared_sum.view();
    task.tilted_sum = tilted_sum.view();
    // Pictures of even width use launch parameters; those of odd width do not.
    task.cascade[0] = step_1.get(pyramid.image.width % 2 == 0);
    task.cascade[1] = step_2.get(pyramid.image.width % 2 == 0);
    task.inner = {scene.cascade.window.width - 2, scene.cascade.window.height - 2};
    task.skips = scene.options.scan == Scan::opencv;
    task.rejected = rejected.data();
    task.candidates = candidates.data();
    task.candidate_count = candidate_count.data();
    task.capacity = capacity;
    task.levels = levels.data();
    const gpu::LevelGroup& levels_here = scene.atlas.groups[g];
    const auto tiles_here =
        static_cast<std::size_t>(plan.tile_count(levels_here.first, levels_here.count));
    if (late) late->set(task, tiles_here, atlas.view());
    const auto enqueue = [&](int first_level, int level_count) {
      task.tiles = tiles.data() + plan.first_tile[first_level];
      gpu::enqueue_evaluate(task, step_1.compiled, plan.tile_count(first_level, level_count),
                            test_stream());
    };
    enqueue(scene.atlas.groups[g].first, scene.atlas.groups[g].count);
    if (late) {
      late->enqueue(task, tiles_here, levels_here, plan.layout, atlas.view());
      continue;
    }

    task.rejected = nullptr;
    task.candidates = nullptr;
    task.skips = false;
    for (int i = 0; i < scene.atlas.groups[g].count; ++i) {
      const Size grid = pyramid.levels[scene.atlas.groups[g].first + i].grid;
      DeviceArray<std::uint32_t> depths(std::vector<std::uint32_t>(grid.area(), poison));
      task.depths = depths.data();
      enqueue(scene.atlas.groups[g].first + i, 1);
      const std::vector<std::uint32_t> cells = depths.download();
      Image<std::uint32_t>& image = answer.depths.emplace_back(grid);
      copy(View<const std::uint32_t>{cells.data(), grid, grid.width}, image.view());
    }
  }
  DeviceArray<gpu::BoxLevel> boxes(gpu::plan_boxes(pyramid));
  const std::vector<gpu::ClassSums> nothing(gpu::max_united);
  DeviceArray<gpu::ClassSums> classes(nothing), delivered(nothing);
  DeviceArray<std::int64_t> window_sums{std::vector<std::int64_t>(gpu::max_united)};
  DeviceArray<gpu::AlignedRect> rectangles{std::vector<gpu::AlignedRect>(gpu::max_united)};
  const std::vector<std::uint32_t> poisoned(gpu::max_united, poison);
  DeviceArray<std::uint32_t> level_places(poisoned), level_begins(poisoned), first_near(poisoned),
      parents(poisoned), roots(poisoned);
  DeviceArray<gpu::WindowCounts> delivered_counts(counts.download());
  const gpu::GroupWindowsTask grouping{.evaluated_levels = levels.data(),
                                       .box_levels = boxes.data(),
                                       .level_count = static_cast<int>(pyramid.levels.size()),
                                       .candidates = candidates.data(),
                                       .candidate_count = candidate_count.data(),
                                       .capacity = capacity,
                                       .rejected = rejected.data(),
                                       .skips = scene.options.scan == Scan::opencv,
                                       .unites = true,
                                       .least = 3,
                                       .found = windows.data(),
                                       .counts = counts.data(),
                                       .level_places = level_places.data(),
                                       .level_begins = level_begins.data(),
                                       .boxes = rectangles.data(),
                                       .sums = window_sums.data(),
                                       .first_near = first_near.data(),
                                       .parents = parents.data(),
                                       .roots = roots.data(),
                                       .classes = classes.data(),
                                       .delivered_counts = delivered_counts.data(),
                                       .delivered = delivered.data()};
  gpu::enqueue_few_windows(grouping, test_stream());
  gpu::enqueue_many_windows(grouping, test_stream());
  EXPECT_EQ(candidate_count.download()[0], 0u);
  EXPECT_LE(counts.download()[0].candidates, capacity);
  const gpu::WindowCounts count = delivered_counts.download()[0];
  EXPECT_LE(count.windows, count.candidates);
  std::vector<Candidate> found = windows.download();
  found.resize(count.windows);
  answer.windows = gpu::windows_of(found, pyramid, step_1.compiled);
  for (const Window& window : answer.windows) answer.boxes.push_back(window.box);
  const std::vector<gpu::ClassSums> sums = delivered.download();
  answer.faces =
      group_classes(gpu::classes_of(std::span(sums).first(count.classes), step_1.compiled), 2);
  return answer;
}

void expect_same(const Answer& answer, const Answer& expected, const std::string& what) {
  EXPECT_EQ(answer.windows, expected.windows) << what;
  EXPECT_EQ(answer.boxes, expected.boxes) << what;
  EXPECT_EQ(answer.faces, expected.faces) << what;
}

void expect_same_depths(const Answer& answer, const Answer& expected, const std::string& what) {
  EXPECT_EQ(answer.depths.size(), expected.depths.size());
  for (std::size_t i = 0; i < expected.depths.size(); ++i) {
    EXPECT_TRUE(same(answer.depths[i].view(), expected.depths[i].view()))
        << what << ": depths of level " << i;
  }
}

// With the late stages on tensor cores: divided at several places, with large and small queues, in
// shapes for large and small shared memories. On the host, they take turns. Returns the number of
// windows in all queues.
std::size_t compare_late(const Scene& scene, const Answer& expected, const std::string& what) {
  const auto stages = static_cast<int>(scene.cascade.stages.size());
  if (stages < 2 || !gpu::product_nodes(scene.cascade)) return 0;
  std::vector<Late> choices{{{{}, {(stages + 1) / 2}}, capacity}, {{{}, {stages - 1}}, 20}};
  if (stages > 3) choices.push_back({{{}, {1, stages / 2, stages - 1}}, capacity});
  const gpu::WindowBytes bytes = gpu::window_bytes(scene.cascade.window);
  if (bytes.squares_across == bytes.squares_down && bytes.squares_down >= 5) {
    if (stages > 2) choices.push_back({{{1}, {2}}, capacity});
    if (stages > 3) choices.push_back({{{1, 2}, {3}}, capacity});
  }
  std::size_t queued = 0;
  static std::size_t turn = 0;
  for (std::size_t n = on_gpu ? choices.size() : 1; n > 0; --n, ++turn) {
    const Late& late = choices[turn % choices.size()];
    UploadedLate uploaded(scene.cascade, late, turn % 5 < 2 ? 227 << 10 : 99 << 10,
                          gpu::can_multiply_by_warpgroup() && turn % 2 == 0);
    expect_same(on_device(scene, &uploaded), expected,
                what + ", divided at " + std::to_string(late.division.by_tiles.size()) + " and " +
                    std::to_string(late.division.by_windows.size()) + " places");
    queued += uploaded.went_through;
  }
  return queued;
}

std::size_t went_through_queues = 0;  // windows, in all comparisons

// Expects the same from the CPU and from the kernels; returns the number of windows.
std::size_t compare(const Cascade& cascade, View<const std::uint8_t> gray,
                    const DetectOptions& options, std::size_t max_atlas_pixels = 1 << 26) {
  const Pyramid pyramid = plan_pyramid(gray.size, cascade.window, options);
  if (pyramid.levels.empty()) return 0;
  const Scene scene{cascade, pyramid, gpu::plan_atlas(pyramid, max_atlas_pixels), options, gray};
  const Answer expected = on_cpu(scene);
  const Answer answer = on_device(scene, nullptr);
  const std::string what = cascade.name + " on " + std::to_string(gray.size.width) + "x" +
                           std::to_string(gray.size.height);
  expect_same(answer, expected, what);
  expect_same_depths(answer, expected, what);
  went_through_queues += compare_late(scene, expected, what);
  return expected.windows.size();
}

// The cascade with leaves of few bits, whose sums are exact in any order.
Cascade rounded(Cascade cascade) {
  for (float& leaf : cascade.leaves) leaf = std::round(leaf * 1024) / 1024;
  return cascade;
}

// The cascade with weights that are integers, as those of trained ones, which tensor cores need.
Cascade with_integer_weights(Cascade cascade) {
  for (HaarFeature& feature : cascade.haar)
    for (HaarFeature::Part& part : feature.parts) part.weight = std::round(part.weight);
  return cascade;
}

class RandomCascades : public ::testing::TestWithParam<NamedShape> {};

TEST_P(RandomCascades, GiveTheWindowsOfTheCpu) {
  std::size_t windows = 0;
  went_through_queues = 0;
  std::mt19937 random(3);
  for (unsigned seed = 0; seed < (on_gpu ? 300u : 3u); ++seed) {
    const Cascade cascade = random_cascade(seed, GetParam().shape);
    const Size size{20 + static_cast<int>(random() % (on_gpu ? 90 : 50)),
                    20 + static_cast<int>(random() % (on_gpu ? 60 : 40))};
    const DetectOptions options{.scale_factor = 1.1 + static_cast<double>(random() % 8) / 10,
                                .scan = seed % 3 == 2 ? Scan::dense : Scan::opencv};
    const std::size_t most = seed % 4 == 1 ? 3000 : 1 << 26;  // several atlases
    windows += compare(cascade, clouds(size, seed, 1).view(), options, most);
    windows += compare(rounded(cascade), clouds(size, seed, 2).view(), options, most);
    windows += compare(rounded(cascade), noise(size, seed, 100, 136).view(), options);
    if (cascade.kind != FeatureKind::haar) continue;
    Cascade trained = with_integer_weights(rounded(cascade));
    windows += compare(trained, clouds(size, seed, 1).view(), options, most);
    const int side = seed % 2 == 0 ? 20 : 24;  // or up to 3 less: what tile_task() takes
    trained.window = {side - static_cast<int>(seed % 3), side - static_cast<int>(seed % 4)};
    windows += compare(trained, clouds({size.width + 20, size.height + 20}, seed, 1).view(),
                       options, 4 * most);
  }
  EXPECT_GT(windows, on_gpu ? 20'000u : 100u);
  if (GetParam().shape.kind == FeatureKind::haar && GetParam().shape.max_nodes <= 3) {
    EXPECT_GT(went_through_queues, on_gpu ? 20'000u : 100u);
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, RandomCascades, ::testing::ValuesIn(cascade_shapes),
                         [](const auto& tested) { return tested.param.name; });

// Blocks append to the same queues and the same list of candidates.
TEST(CascadeKernels, BlocksMayRunInAnyOrder) {
  const Cascade cascade = with_integer_weights(
      rounded(random_cascade(2, {.tilted = true, .max_nodes = 3, .tree_factor = 4})));
  went_through_queues = 0;
  under_all_schedules([&] { compare(cascade, clouds({50, 40}, 1, 1).view(), {}); });
  EXPECT_GT(went_through_queues, 1000u);
}

// With the first cascade every visited position gives a window; with the second, about half of the
// windows are rejected, and rejections skip their neighbours.
TEST(CascadeKernels, GridsAndSkips) {
  const Cascade all = half_cascade({8, 9}, 1, 1, 0), some = half_cascade({8, 9}, 0, 1, 0.5f);
  for (int width = 8; width <= 140; width += on_gpu ? 1 : 44)
    for (int height = 9; height <= 90; height += on_gpu ? 4 : 60) {
      const Image<std::uint8_t> picture = noise({width, height}, static_cast<unsigned>(width));
      const DetectOptions options{.scale_factor = 1.37};
      compare(all, picture.view(), options);
      compare(some, picture.view(), options);
    }
}

// Sums that need f64, all of them negative: the score of a face is the greatest.
TEST(CascadeKernels, NegativeSumsInF64) {
  const Cascade cascade = half_cascade({8, 9}, -0x1p-58f, -1, -2);
  EXPECT_FALSE(gpu::exact_fraction_bits(cascade));
  const DetectOptions options{.scale_factor = 1.2};
  EXPECT_GT(compare(cascade, noise({16, 14}, 1).view(), options), 10u);   // few windows
  EXPECT_GT(compare(cascade, noise({60, 50}, 1).view(), options), 300u);  // many
}

// Real cascades: hundreds of features of all kinds, with tilted features and trees.
TEST(CascadeKernels, TrainedCascades) {
  std::size_t windows = 0;
  went_through_queues = 0;
  for (const char* name :
       {"frontalface_default", "frontalface_alt2", "eye_tree_eyeglasses", "lbp:frontalface"}) {
    const auto cascade = find_cascade(name);
    windows += compare(*cascade, drawn_faces({70, 66}).view(), {.scale_factor = 1.2});
    windows += compare(*cascade, drawn_faces({71, 66}).view(), {.scale_factor = 1.3});
  }
  EXPECT_GT(windows, 20u);
  EXPECT_GT(went_through_queues, 1000u);
}

// Rows with nothing but rejections across several tiles, next to a uniform area on one side.
TEST(CascadeKernels, LongRunsOfRejections) {
  const Cascade none = half_cascade({8, 9}, 0, 1, 0.5f);  // passes where the right half is darker
  Image<std::uint8_t> picture = noise({230, 40}, 9);
  for (int y = 0; y < 40; ++y)
    for (int x = 0; x < 230; ++x) {
      std::uint8_t& p = picture.row(y)[x];
      if (y < 25) p = static_cast<std::uint8_t>(x / 2 + (x * 7 + y) % 3);  // grows to the right
      if (y > 20 && x % 67 < 5) p = 200;
      if (x > 180 && y > 10) p = 77;
    }
  EXPECT_GT(compare(none, picture.view(), {.scale_factor = 1.2}), 0u);
  EXPECT_GT(compare(none, picture.view(), {.scale_factor = 1.2, .scan = Scan::dense}), 0u);
}

// ---- the standard deviation of a window as kernels compute it, against the rule

__global__ void inverse_deviation_kernel(const std::int64_t* spreads, float* results, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) results[i] = gpu::inverse_deviation(spreads[i]);
}

// Small spreads, large ones, and those whose result is close to the middle between two f32 values.
std::vector<std::int64_t> test_spreads() {
  std::vector<std::int64_t> spreads;
  for (std::int64_t i = 1; i <= 20000; ++i) spreads.push_back(i);
  for (std::int64_t i = 0; i < 20000; ++i) spreads.push_back((std::int64_t{1} << 40) - 7 * i * i);
  for (int i = 0; i < 200000; ++i) {
    const double middle = std::ldexp(16777217.0 + 2 * (i * 83 % 16777216), -25 - i % 20);
    spreads.push_back(std::max<std::int64_t>(1, std::llround(1 / (middle * middle))));
  }
  return spreads;
}

TEST(InverseDeviation, EqualsTheRule) {
  const std::vector<std::int64_t> spreads = test_spreads();
  const int count = static_cast<int>(spreads.size());
  DeviceArray<std::int64_t> input(spreads);
  DeviceArray<float> output(std::vector<float>(spreads.size(), -1));
  const std::int64_t* const from = input.data();
  float* const to = output.data();
  FACESAT_LAUNCH(inverse_deviation_kernel, dim3(static_cast<unsigned>(divide_up(count, 256))),
                 dim3(256), test_stream(), from, to, count);
  const std::vector<float> results = output.download();
  for (std::size_t i = 0; i < spreads.size(); ++i)
    ASSERT_EQ(results[i], rules::inverse_deviation(spreads[i])) << spreads[i];
}

}  // namespace
}  // namespace facesat::test
