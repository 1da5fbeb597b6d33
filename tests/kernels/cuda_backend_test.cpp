// The CUDA backend against the CPU backend, for every cascade on this machine and every SAT
// algorithm: windows with their scores, faces, intermediate pictures. Needs a GPU.
//
// Photographs are read from the folder that FACESAT_GRAY_PICTURES names: binary .pgm files.
#include "kernels/cuda_backend.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>

#include <cuda_runtime_api.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/frame_detector.hpp"
#include "facesat.hpp"
#include "kernels/cascade/compiled_products.hpp"
#include "kernels/sat/algorithm.hpp"
#include "tests/kit/cascades.hpp"
#include "tests/kit/compare.hpp"
#include "tests/kit/eventually.hpp"
#include "tests/kit/pictures.hpp"
#include "tests/kit/printers.hpp"

namespace facesat::test {
namespace {

struct NamedPicture {
  std::string name;
  Image<std::uint8_t> gray;
};

// The same kinds of pictures as in the comparison with OpenCV.
std::vector<NamedPicture> generated_pictures() {
  std::vector<NamedPicture> pictures;
  const auto add = [&](const char* name, Image<std::uint8_t> gray) {
    pictures.push_back({name, std::move(gray)});
  };
  add("noise", noise({160, 120}, 1));
  add("noise of 3 values", noise({131, 97}, 2, 127, 130));
  add("noise of 2 values", noise({120, 90}, 3, 254, 256));
  add("clouds 2", clouds({211, 157}, 4, 2));
  add("clouds 5", clouds({256, 192}, 5, 5));
  add("clouds 9", clouds({301, 199}, 6, 9));
  add("flat 0", flat({90, 64}, 0));
  add("flat 255", flat({64, 90}, 255));
  add("drawn faces", drawn_faces({430, 130}));
  add("exactly the window", clouds({24, 24}, 8, 3));
  add("one less", clouds({23, 24}, 9, 3));
  add("one more", clouds({25, 25}, 10, 3));
  add("1x1", noise({1, 1}, 11));
  add("flat strip", clouds({400, 21}, 12, 4));
  add("tall strip", clouds({22, 300}, 13, 4));
  add("prime", clouds({337, 113}, 14, 3));
  return pictures;
}

Image<std::uint8_t> read_pgm(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::string magic;
  Size size;
  int most = 0;
  in >> magic >> size.width >> size.height >> most;
  in.get();
  if (!in || magic != "P5" || most != 255) throw std::runtime_error(file.string() + " is no PGM");
  Image<std::uint8_t> picture(size);
  for (int y = 0; y < size.height; ++y)
    in.read(reinterpret_cast<char*>(picture.row(y)), size.width);
  return picture;
}

const std::vector<NamedPicture>& photographs() {
  static const std::vector<NamedPicture> pictures = [] {
    std::vector<NamedPicture> read;
    if (const char* folder = std::getenv("FACESAT_GRAY_PICTURES"))
      for (const auto& entry : std::filesystem::directory_iterator(folder))
        read.push_back({entry.path().filename().string(), read_pgm(entry.path())});
    std::sort(read.begin(), read.end(),
              [](const NamedPicture& a, const NamedPicture& b) { return a.name < b.name; });
    return read;
  }();
  return pictures;
}

// Counts over the whole run, reported at its end.
struct Tally : ::testing::Environment {
  static inline std::size_t compared = 0, with_windows = 0, mismatches = 0;
  void TearDown() override {
    fmt::print(
        "CUDA and CPU: {} configurations compared, {} of them with detections, {} mismatches\n",
        compared, with_windows, mismatches);
  }
};
const auto* const tally = ::testing::AddGlobalTestEnvironment(new Tally);

// The CPU's results.
struct Expected {
  std::vector<Face> faces;
  std::size_t windows;
};
Expected on_cpu(const std::shared_ptr<const Cascade>& cascade, const NamedPicture& picture,
                const DetectOptions& options) {
  FrameDetector detector(cascade, options, make_cpu_backend());
  std::vector<Face> faces = detector.detect(picture.gray.view());
  return {std::move(faces), detector.window_count()};
}

void compare(const Expected& expected, const NamedPicture& picture, const DetectOptions& options,
             FrameDetector& on_gpu, const std::string& sat) {
  const std::vector<Face> found = on_gpu.detect(picture.gray.view());
  const bool same = found == expected.faces && on_gpu.window_count() == expected.windows;
  ++Tally::compared;
  Tally::with_windows += expected.windows > 0;
  Tally::mismatches += !same;
  EXPECT_TRUE(same) << on_gpu.cascade().name << " on " << picture.name << ", " << sat << ", factor "
                    << options.scale_factor << ", neighbours " << options.min_neighbors << ", min "
                    << options.min_size.width << "x" << options.min_size.height << ", max "
                    << options.max_size.width << "x" << options.max_size.height << ": "
                    << found.size() << " instead of " << expected.faces.size();
}

// Compares the backends with the default SAT algorithm and with one other, and with the late stages
// on tensor cores, from different stages on. The others take turns.
std::size_t compare(const std::shared_ptr<const Cascade>& cascade, const NamedPicture& picture,
                    const DetectOptions& options) {
  const Expected expected = on_cpu(cascade, picture, options);
  const std::span<const gpu::SatAlgorithm* const> sats = gpu::sat_algorithms();
  static std::size_t turn = 0;
  ++turn;
  const auto on_gpu = [&](std::size_t sat, const gpu::LateDivision& late) {
    const std::string id(sats[sat]->id);
    FrameDetector detector(cascade, options, gpu::make_cuda_backend(0, id, {.late = late}));
    compare(expected, picture, options, detector, id);
  };
  on_gpu(0, {});
  on_gpu(1 + turn % (sats.size() - 1), {});
  if (gpu::product_nodes(*cascade)) {
    const int first = 1 + static_cast<int>(turn % 7);
    on_gpu(0, {{}, {first, first + 3, first + 8}});
    on_gpu(0, {{first, first + 2}, {first + 4, first + 9}});
  }
  return expected.faces.size();
}

class EveryCascade : public ::testing::TestWithParam<std::string> {
 protected:
  std::shared_ptr<const Cascade> cascade = find_cascade(GetParam());
};

// A grid of parameters; then ungrouped windows, with the dense scan and after equalisation.
TEST_P(EveryCascade, GeneratedPictures) {
  for (const NamedPicture& picture : generated_pictures()) {
    std::size_t n = 0;
    for (const double factor : factors)
      for (const int minimum : neighbors) {
        const SizeLimits& limits = size_limits[n++ % std::size(size_limits)];
        compare(cascade, picture, {factor, minimum, limits.low, limits.high});
      }
    compare(cascade, picture, {.min_neighbors = 0, .scan = Scan::dense});
    compare(cascade, picture, {.min_neighbors = 0, .equalize = true});
  }
}

TEST_P(EveryCascade, Photographs) {
  if (photographs().empty())
    GTEST_SKIP() << "skipped: FACESAT_GRAY_PICTURES names no folder of .pgm files";
  std::size_t n = 0;
  for (const NamedPicture& picture : photographs()) {
    compare(cascade, picture, {.min_neighbors = 0});
    for (int i = 0; i < 2; ++i, ++n) {
      // 20: pairs of a factor and a minimum of neighbours, before the next limits.
      const SizeLimits& limits = size_limits[n / 20 % std::size(size_limits)];
      compare(cascade, picture, {factors[n % 5], neighbors[n % 4], limits.low, limits.high});
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cuda, EveryCascade, ::testing::ValuesIn(cascade_names()),
                         [](const auto& tested) {
                           std::string name = tested.param;
                           std::replace(name.begin(), name.end(), ':', '_');
                           return name;
                         });

// Every intermediate picture, in one atlas and in several.
void compare_intermediate_pictures(const std::shared_ptr<const Cascade>& cascade) {
  const Image<Bgr> frame = colour_noise({217, 143}, 3);
  for (const bool equalize : {false, true})
    for (const std::size_t most : {std::size_t{1} << 26, std::size_t{40000}}) {
      const DetectOptions options{.equalize = equalize};
      const Pyramid pyramid = plan_pyramid(frame.size(), cascade->window, options);
      const auto cpu = make_cpu_backend(),
                 cuda = gpu::make_cuda_backend(0, "", {.max_atlas_pixels = most});
      for (Backend* backend : {cpu.get(), cuda.get()}) {
        backend->prepare(cascade, pyramid, options);
        backend->load(frame.view());
        backend->run();
        backend->collect();
      }
      EXPECT_TRUE(same(cpu->snapshot(Snapshot::gray, 0), cuda->snapshot(Snapshot::gray, 0)));
      for (int level = 0; level < static_cast<int>(pyramid.levels.size()); ++level)
        for (const Snapshot picture : {Snapshot::level, Snapshot::sum, Snapshot::squared_sum,
                                       Snapshot::tilted_sum, Snapshot::depth})
          EXPECT_TRUE(same(cpu->snapshot(picture, level), cuda->snapshot(picture, level)))
              << cascade->name << ": picture " << static_cast<int>(picture) << " of level " << level
              << ", atlases of at most " << most << " pixels";
    }
}

TEST(CudaBackend, IntermediatePictures) {
  compare_intermediate_pictures(find_cascade("eye_tree_eyeglasses"));  // has tilted features
  compare_intermediate_pictures(find_cascade("lbp:frontalface"));      // does without squares
}

TEST(CudaBackend, GivesTheSameWhateverTheSizeOfAnAtlas) {
  const auto cascade = find_cascade("frontalface_default");
  const Image<std::uint8_t> picture = drawn_faces({200, 90});
  FrameDetector cpu(cascade, {}, make_cpu_backend());
  const std::vector<Face> faces = cpu.detect(picture.view());
  EXPECT_EQ(faces.size(), 3u);
  for (const std::size_t most : {1, 1000, 19000, 25000, 1 << 20}) {
    FrameDetector cuda(cascade, {}, gpu::make_cuda_backend(0, "", {.max_atlas_pixels = most}));
    for (int run = 0; run < 3; ++run) {  // kernels launched, graph captured, graph replayed
      EXPECT_EQ(cuda.detect(picture.view()), faces) << most;
      EXPECT_EQ(cuda.window_count(), cpu.window_count()) << most;
    }
  }
}

// One backend for many frames: changing sizes, colour and grey, replayed graphs.
TEST(CudaBackend, FramesOfManySizes) {
  const auto cascade = find_cascade("frontalface_default");
  const DetectOptions options{.min_neighbors = 0};
  FrameDetector cuda(cascade, options, gpu::make_cuda_backend(0, "", {.late = std::nullopt}));
  std::size_t faces = 0;
  for (const Size size : {Size{430, 130}, {120, 90}, {430, 130}, {900, 300}, {30, 25}, {430, 130}})
    for (int repeat = 0; repeat < gpu::frames_before_measuring; ++repeat) {
      const NamedPicture picture{"drawn faces", drawn_faces(size)};
      const Expected expected = on_cpu(cascade, picture, options);
      compare(expected, picture, options, cuda, "the default");
      faces += expected.faces.size();
      const Image<Bgr> frame = coloured(picture.gray.view());
      const std::vector<Face> of_colour = cuda.detect(frame.view());
      FrameDetector cpu(cascade, options, make_cpu_backend());
      EXPECT_EQ(of_colour.size(), cpu.detect(frame.view()).size());
    }
  EXPECT_GT(faces, 100u);
}

TEST(CudaBackend, MeasuresDivisionsOnlyWhileNoOtherFrameIsUnderWay) {
  const auto cascade = std::make_shared<Cascade>(*find_cascade("frontalface_default"));
  const Image<std::uint8_t> picture = drawn_faces({430, 130});
  FrameDetector other(cascade, {}, gpu::make_cuda_backend(0, "")),
      cuda(cascade, {}, gpu::make_cuda_backend(0, ""));
  const auto is_measured_after_frames = [&] {
    for (int frame = 0; frame <= gpu::frames_before_measuring + 1; ++frame)
      EXPECT_FALSE(cuda.detect(picture.view()).empty());
    std::size_t windows = 0;
    for (const Level& level : cuda.pyramid().levels) windows += level.grid.area();
    return gpu::LateDivisions::of_process().find(0, cascade, windows).has_value();
  };
  other.load(picture.view());
  other.start();
  EXPECT_FALSE(is_measured_after_frames());
  other.finish();
  EXPECT_TRUE(is_measured_after_frames());
}

// More windows than the list of windows first has room for, 2^16.
TEST(CudaBackend, GrowsItsListOfWindows) {
  const auto all = std::make_shared<Cascade>(half_cascade({8, 9}, 1, 1, 0));
  const NamedPicture picture{"noise", noise({640, 480}, 2)};
  EXPECT_GT(compare(all, picture, {.min_neighbors = 0}), 100'000u);
}

// Frames with few windows need fewer launches; whether a frame has few is known after it.
TEST(CudaBackend, FewAndManyWindowsTakeTurns) {
  const auto all = std::make_shared<Cascade>(half_cascade({8, 9}, 1, 1, 0));
  for (const int min_neighbors : {0, 2}) {
    const DetectOptions options{.min_neighbors = min_neighbors, .max_size = {12, 12}};
    NamedPicture few{"a dot", flat({100, 80}, 90)}, many{"noise", noise({100, 80}, 2)};
    few.gray.view().row(40)[50] = 200;
    const Expected of_few = on_cpu(all, few, options), of_many = on_cpu(all, many, options);
    gpu::CudaSettings settings;
    settings.measures_steps = min_neighbors > 0;
    FrameDetector cuda(all, options, gpu::make_cuda_backend(0, "", settings));
    for (int frame = 0; frame < 12; ++frame) {
      const bool is_few = frame % 6 < 3;
      compare(is_few ? of_few : of_many, is_few ? few : many, options, cuda, "the default");
      EXPECT_EQ(cuda.window_count() > 256, !is_few);
      EXPECT_GT(cuda.window_count(), 0u);
      EXPECT_EQ(cuda.times()[Step::evaluate] > 0, settings.measures_steps);
    }
  }
}

// The kernels fill their steps, and measuring them changes no result.
TEST(CudaBackend, MeasuresTheKernelsOfEachStep) {
  const auto cascade = find_cascade("frontalface_alt2");
  const NamedPicture picture{"drawn faces", drawn_faces({1280, 960})};
  const Expected expected = on_cpu(cascade, picture, {});
  for (const gpu::SatAlgorithm* const sat : gpu::sat_algorithms())
    for (const std::size_t most : {0, 1'000'000}) {  // one atlas, several
      const std::string id(sat->id);
      SCOPED_TRACE(fmt::format("{}, {}", id, most));
      if (!gpu::choose_sat(id).algorithm) continue;
      gpu::CudaSettings settings;
      settings.max_atlas_pixels = most;
      FrameDetector cuda(cascade, {}, gpu::make_cuda_backend(0, id, settings));
      Backend& backend = cuda.backend();
      const auto detect = [&] { compare(expected, picture, {}, cuda, id); };
      detect();
      backend.measure_kernels(true);
      detect();
      std::vector<KernelTime> kernels;
      const auto fill_their_steps = [&] {
        detect();
        kernels = backend.kernels();
        StepTimes unfilled = cuda.times();
        for (const KernelTime& kernel : kernels) unfilled[kernel.step] -= kernel.ms;
        // Between two steps, an event is recorded for each atlas, which takes some microseconds.
        const double most_unfilled =
            0.015 + 0.005 * std::ranges::count(kernels, "resize", &KernelTime::name);
        return std::ranges::all_of(
            std::array{Step::resize, Step::sat, Step::evaluate, Step::download},
            [&](Step step) { return std::abs(unfilled[step]) < most_unfilled; });
      };
      EXPECT_TRUE(eventually(fill_their_steps));  // beside other programs, not in every frame
      for (const KernelTime& kernel : kernels) {
        EXPECT_GT(kernel.ms, 0) << kernel.name;
        EXPECT_EQ(kernel.name.find_first_of("<>():"), std::string::npos) << kernel.name;
      }
      EXPECT_EQ(kernels.front().step, Step::resize);
      EXPECT_TRUE(std::ranges::any_of(
          kernels, [](const KernelTime& kernel) { return kernel.name == "resize"; }));
      backend.measure_kernels(false);
      detect();
      EXPECT_TRUE(backend.kernels().empty());
      EXPECT_GT(cuda.times()[Step::evaluate], 0);
    }
}

// Allocates all memory of the device, and frees it when this object is destroyed.
class Exhausted {
 public:
  Exhausted() {
    for (std::size_t bytes = std::size_t{1} << 33; bytes >= 1 << 20;) {
      void* block = nullptr;
      if (cudaMalloc(&block, bytes) == cudaSuccess)
        blocks_.push_back(block);
      else
        bytes /= 2;
    }
    cudaGetLastError();
  }
  ~Exhausted() {
    for (void* block : blocks_) cudaFree(block);
  }
  Exhausted(const Exhausted&) = delete;
  Exhausted& operator=(const Exhausted&) = delete;

 private:
  std::vector<void*> blocks_;
};

// The list of windows must grow but cannot; a graph captured for earlier frames must not be
// replayed on buffers that have been freed.
TEST(CudaBackend, StaysUsableWithoutMemoryForMoreWindows) {
  const auto all = std::make_shared<Cascade>(half_cascade({8, 9}, 1, 1, 0));
  const DetectOptions options{.min_neighbors = 0};
  const Size size{1200, 900};
  const NamedPicture none{"flat", flat(size, 90)}, many{"noise", noise(size, 2)};
  FrameDetector cuda(all, options, gpu::make_cuda_backend(0, ""));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(cuda.detect(none.gray.view()).size(), 0u);
  {
    const Exhausted memory;
    for (int i = 0; i < 2; ++i) {
      EXPECT_THROW(cuda.detect(many.gray.view()), MemoryError);
      EXPECT_THROW(cuda.detect(many.gray.view()), MemoryError);
    }
  }
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(cuda.detect(none.gray.view()).size(), 0u);
    compare(on_cpu(all, many, options), many, options, cuda, "the default");
  }
}

// The graph of a size is made when the size is seen for the second time.
TEST(CudaBackend, StaysUsableWithoutMemoryForAGraph) {
  const auto cascade = find_cascade("frontalface_default");
  const NamedPicture picture{"drawn faces", drawn_faces({640, 300})};
  const Expected expected = on_cpu(cascade, picture, {});
  EXPECT_FALSE(expected.faces.empty());
  FrameDetector cuda(cascade, {}, gpu::make_cuda_backend(0, ""));
  compare(expected, picture, {}, cuda, "the default");
  for (int frame = 0; frame < 2; ++frame) {
    const Exhausted memory;
    try {
      compare(expected, picture, {}, cuda, "the default");  // if it needs no further memory
    } catch (const MemoryError&) {
    }
  }
  for (int i = 0; i < 3; ++i) compare(expected, picture, {}, cuda, "the default");
}

// The compiled cascade is identified by the cascade's address. So the backend must keep the cascade
// alive; otherwise another cascade might be allocated at that address.
TEST(CudaBackend, KeepsItsCascadeAlive) {
  const Image<std::uint8_t> picture = noise({90, 70}, 3);
  const auto backend = gpu::make_cuda_backend(0, "");
  std::weak_ptr<const Cascade> before;
  for (const float leaf : {1.0f, -1.0f}) {
    auto cascade = std::make_shared<const Cascade>(half_cascade({8, 9}, leaf, leaf, 0));
    const Pyramid pyramid = plan_pyramid(picture.size(), cascade->window, {});
    backend->prepare(cascade, pyramid, {});
    EXPECT_TRUE(before.expired());
    before = cascade;
    cascade.reset();
    EXPECT_FALSE(before.expired());
    backend->load(picture.view());
    backend->run();
    EXPECT_EQ(backend->collect() == 0, leaf < 0);
  }
}

TEST(CudaBackend, CanBeStopped) {
  const auto cascade = find_cascade("frontalface_default");
  const Image<std::uint8_t> picture = drawn_faces({640, 300});
  FrameDetector cuda(cascade, {}, gpu::make_cuda_backend(0, ""));
  const std::size_t expected = cuda.detect(picture.view()).size();
  EXPECT_GT(expected, 0u);
  for (int after = 0; after < 3; ++after) {  // the number of calls that return false first
    int questions = 0;
    cuda.stop_when([&] { return questions++ >= after; });
    EXPECT_THROW(cuda.detect(picture.view()), Stopped);
    cuda.stop_when({});
    EXPECT_EQ(cuda.detect(picture.view()).size(), expected);
  }
}

// Windows are copied from the device when they are first asked for.
TEST(CudaBackend, HasNoWindowsOfAnotherFrame) {
  FrameDetector cuda(find_cascade("frontalface_default"), {}, gpu::make_cuda_backend(0, ""));
  EXPECT_TRUE(cuda.backend().windows().empty());
  const Image<std::uint8_t> picture = drawn_faces({640, 300});
  cuda.detect(picture.view());
  EXPECT_GT(cuda.window_count(), 0u);
  EXPECT_EQ(cuda.backend().windows().size(), cuda.window_count());
  cuda.start();
  EXPECT_TRUE(cuda.backend().windows().empty());
  cuda.finish();
  cuda.load(drawn_faces({200, 90}).view());  // prepares for fewer levels
  EXPECT_TRUE(cuda.backend().windows().empty());
  cuda.detect(picture.view());
  cuda.stop_when([] { return true; });
  EXPECT_THROW(cuda.start(), Stopped);
  EXPECT_TRUE(cuda.backend().windows().empty());
}

// They launch the same kernels, with different amounts of shared memory.
TEST(CudaBackend, SeveralBackendsAtOnce) {
  const auto cascade = find_cascade("frontalface_default");
  const Image<std::uint8_t> picture = drawn_faces({640, 300});
  const DetectOptions options{.min_neighbors = 0};
  const std::size_t expected =
      FrameDetector(cascade, options, make_cpu_backend()).detect(picture.view()).size();
  const std::vector<gpu::CudaSettings> settings{{},
                                                {.late = std::nullopt},
                                                {.late = gpu::LateDivision{{1, 3}, {6, 12}}},
                                                {.late = gpu::LateDivision{{}, {2}}}};
  std::vector<std::future<std::size_t>> found;
  for (std::size_t t = 0; t < 2 * settings.size(); ++t)
    found.push_back(std::async(std::launch::async, [&, t] {
      FrameDetector cuda(cascade, options,
                         gpu::make_cuda_backend(0, "", settings[t % settings.size()]));
      std::size_t count = 0;
      for (int i = 0; i < 20; ++i) count = cuda.detect(picture.view()).size();
      return count;
    }));
  EXPECT_GT(expected, 0u);
  for (std::future<std::size_t>& count : found) EXPECT_EQ(count.get(), expected);
}

TEST(CudaBackend, RefusesUnknownNamesAndLargeWindows) {
  EXPECT_THROW(gpu::make_cuda_backend(0, "no_such_sat"), ArgumentError);
  EXPECT_THROW(gpu::make_cuda_backend(99, ""), Error);
  const Cascade huge = half_cascade({400, 400}, 1, 1, 0);
  EXPECT_NE(gpu::why_not(0, huge), "");
  EXPECT_EQ(gpu::why_not(0, *find_cascade("frontalface_default")), "");
}

}  // namespace
}  // namespace facesat::test
