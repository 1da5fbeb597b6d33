#include "core/frame_detector.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <tbb/task_arena.h>

#include "core/cpu/gray.hpp"
#include "core/rules.hpp"
#include "tests/kit/cascades.hpp"
#include "tests/kit/compare.hpp"
#include "tests/kit/instruction_sets.hpp"
#include "tests/kit/pictures.hpp"
#include "tests/kit/printers.hpp"
#include "tests/kit/reference.hpp"

namespace facesat::test {
namespace {

using Gray = View<const std::uint8_t>;
using Model = std::shared_ptr<const Cascade>;

Model model(const std::string& file) {
  return std::make_shared<Cascade>(load_cascade(std::string(FACESAT_CASCADE_DIR "/") + file));
}
// Passes every window except those of low variance.
Model pass_all(Size window) {
  return std::make_shared<Cascade>(half_cascade(window, 1, 1, 0));
}

std::vector<Face> detect(const Model& cascade, const DetectOptions& options, Gray frame) {
  return FrameDetector(cascade, options, make_cpu_backend()).detect(frame);
}

// The windows of the frame last detected, before grouping.
std::vector<Window> windows_of(FrameDetector& detector) {
  const auto windows = detector.backend().windows();
  return {windows.begin(), windows.end()};
}

// ---- what is found ------------------------------------------------------------------------------

class FindsFaces : public ::testing::TestWithParam<const char*> {};

bool contains(const Rect& r, int x, int y) {
  return x >= r.x && y >= r.y && x < r.x + r.width && y < r.y + r.height;
}

// drawn_faces({200, 90}) draws three faces, with centres at x = 20, 65 and 128, y = 45.
TEST_P(FindsFaces, WhereTheyAreDrawn) {
  const Image<std::uint8_t> picture = drawn_faces({200, 90});
  const std::vector<Face> faces = detect(model(GetParam()), {}, picture.view());
  ASSERT_EQ(faces.size(), 3u);
  for (const int x : {20, 65, 128})
    EXPECT_EQ(std::count_if(faces.begin(), faces.end(),
                            [&](const Face& face) { return contains(face.box, x, 45); }),
              1)
        << x;
}

INSTANTIATE_TEST_SUITE_P(FrameDetector, FindsFaces,
                         ::testing::Values("haarcascades/haarcascade_frontalface_default.xml",
                                           "haarcascades/haarcascade_frontalface_alt.xml",
                                           "haarcascades/haarcascade_frontalface_alt2.xml",
                                           "haarcascades/haarcascade_frontalcatface_extended.xml",
                                           "lbpcascades/lbpcascade_frontalface.xml"),
                         [](const auto& tested) {
                           const std::string name = tested.param;
                           return name.substr(name.find('/') + 1,
                                              name.find('.') - name.find('/') - 1);
                         });

// Flat windows have low variance, so that even pass_all() rejects them.
TEST(FrameDetector, FindsNothingInFlatPictures) {
  for (const int value : {0, 90, 255}) {
    const Image<std::uint8_t> picture = flat({120, 90}, static_cast<std::uint8_t>(value));
    EXPECT_TRUE(detect(default_model(), {.min_neighbors = 0}, picture.view()).empty());
    EXPECT_TRUE(detect(pass_all({5, 5}), {.min_neighbors = 0}, picture.view()).empty());
  }
}

TEST(FrameDetector, FindsNothingInPicturesSmallerThanTheWindow) {
  for (const Size size : {Size{1, 1}, {23, 24}, {24, 23}, {1, 500}, {500, 1}, {0, 0}, {0, 30}}) {
    FrameDetector detector(pass_all({24, 24}), {.min_neighbors = 0}, make_cpu_backend());
    const Image<std::uint8_t> picture = noise(size, 1);
    const Image<Bgr> colour = colour_noise(size, 1);
    EXPECT_TRUE(detector.detect(picture.view()).empty());
    EXPECT_TRUE(detector.detect(colour.view()).empty());
  }
  const Image<std::uint8_t> exact = noise({24, 24}, 1);  // just the window's size: one window
  EXPECT_EQ(detect(pass_all({24, 24}), {.min_neighbors = 0}, exact.view()).size(), 1u);
}

// No window is rejected, so OpenCV's scan skips none either (see docs/glossary.md, skip rule).
TEST(FrameDetector, VisitsEveryGridPosition) {
  const Image<std::uint8_t> picture = noise({91, 77}, 2);
  for (const Scan scan : {Scan::opencv, Scan::dense}) {
    FrameDetector detector(pass_all({9, 8}), {.min_neighbors = 0, .scan = scan},
                           make_cpu_backend());
    detector.detect(picture.view());
    std::size_t positions = 0;
    for (const Level& level : detector.pyramid().levels) positions += level.grid.area();
    EXPECT_EQ(detector.window_count(), positions);
  }
}

TEST(FrameDetector, DenseScanFindsAllWindowsOfTheOpenCvScanAndMore) {
  const Image<std::uint8_t> picture = drawn_faces({200, 90});
  const auto windows = [&](Scan scan) {
    FrameDetector detector(default_model(), {.scan = scan}, make_cpu_backend());
    detector.detect(picture.view());
    return windows_of(detector);
  };
  const std::vector<Window> sparse = windows(Scan::opencv), dense = windows(Scan::dense);
  EXPECT_GT(sparse.size(), 50u);  // otherwise the comparison says little
  EXPECT_GT(dense.size(), sparse.size());
  for (const Window& window : sparse)
    EXPECT_NE(std::find(dense.begin(), dense.end(), window), dense.end());
}

// ---- frames -------------------------------------------------------------------------------------

TEST(FrameDetector, DetectsInColourFramesAsInTheirGreyImages) {
  const Image<std::uint8_t> faces = drawn_faces({200, 90});
  EXPECT_EQ(
      FrameDetector(default_model(), {}, make_cpu_backend()).detect(coloured(faces.view()).view()),
      detect(default_model(), {}, faces.view()));
  const Image<Bgr> frame = colour_noise({90, 70}, 3);
  const std::vector<Face> windows =
      detect(pass_all({7, 9}), {.min_neighbors = 2}, reference::gray(frame.view()).view());
  EXPECT_FALSE(windows.empty());
  EXPECT_EQ(FrameDetector(pass_all({7, 9}), {.min_neighbors = 2}, make_cpu_backend())
                .detect(frame.view()),
            windows);
}

TEST(FrameDetector, TakesFramesWhosePitchExceedsTheirWidth) {
  const Image<std::uint8_t> faces = drawn_faces({200, 90});
  const std::vector<Face> expected = detect(default_model(), {}, faces.view());
  EXPECT_EQ(detect(default_model(), {}, Embedded<std::uint8_t>(faces.view()).view()), expected);
  const Image<Bgr> frame = coloured(faces.view());
  EXPECT_EQ(FrameDetector(default_model(), {}, make_cpu_backend())
                .detect(Embedded<Bgr>(frame.view()).view()),
            expected);
}

TEST(FrameDetector, EqualizesWhenAsked) {
  // A sixteenth of the contrast: too little for any window to pass.
  const Image<std::uint8_t> bright = drawn_faces({200, 90});
  const auto dull = formula<std::uint8_t>(
      bright.size(), [&](int x, int y) { return 100 + bright.row(y)[x] / 16; });
  Image<std::uint8_t> equalized(dull.size());
  cpu::equalize(dull.view(), equalized.view());
  EXPECT_TRUE(detect(default_model(), {}, dull.view()).empty());
  const std::vector<Face> faces = detect(default_model(), {.equalize = true}, dull.view());
  EXPECT_EQ(faces, detect(default_model(), {}, equalized.view()));
  EXPECT_EQ(faces.size(), 3u);
  FrameDetector colour(default_model(), {.equalize = true}, make_cpu_backend());
  EXPECT_EQ(colour.detect(coloured(dull.view()).view()), faces);
}

TEST(FrameDetector, LeavesOutFacesOfLowerScores) {
  const Image<std::uint8_t> picture = drawn_faces({420, 130});
  std::vector<Face> all = detect(default_model(), {}, picture.view());
  ASSERT_GE(all.size(), 3u);
  const double score = std::ranges::max(all, {}, &Face::score).score;
  const std::vector<Face> some = detect(default_model(), {.min_score = score}, picture.view());
  EXPECT_GT(std::erase_if(all, [&](const Face& face) { return face.score < score; }), 0u);
  EXPECT_EQ(some, all);
  EXPECT_TRUE(detect(default_model(), {.min_score = 1e9}, picture.view()).empty());
  EXPECT_THROW(detect(default_model(), {.min_score = NAN}, picture.view()), ArgumentError);
}

// One search serves any number of neighbours, if its windows stay whole.
TEST(FrameDetector, WholeWindowsGiveTheFacesOfAnyNumberOfNeighbors) {
  const Model cascade = std::make_shared<Cascade>(half_cascade({12, 10}, 1, -1, 0));
  int cut = 0;
  for (unsigned seed = 0; seed < 8; ++seed) {
    const Image<std::uint8_t> picture = clouds({83, 61}, seed, 4);
    const auto windows_found = [&](bool clip) {
      std::vector<Window> windows;
      for (const Face& face :
           detect(cascade, {.scale_factor = 1.3, .min_neighbors = 0, .clip = clip}, picture.view()))
        windows.push_back({.score = face.score, .box = face.box});
      return windows;
    };
    const std::vector<Window> whole = windows_found(false), clipped = windows_found(true);
    for (int neighbors = 0; neighbors < 12; ++neighbors) {
      const DetectOptions options{.scale_factor = 1.3, .min_neighbors = neighbors, .min_score = 1};
      const auto faces_of = [&](const std::vector<Window>& windows) {
        std::vector<Face> faces = group_faces(windows, neighbors);
        trim(faces, picture.size(), options);
        return faces;
      };
      const std::vector<Face> expected = detect(cascade, options, picture.view());
      EXPECT_EQ(faces_of(whole), expected) << seed << ' ' << neighbors;
      cut += faces_of(clipped) != expected;
    }
  }
  EXPECT_GT(cut, 0);  // otherwise the pictures are too easy
}

TEST(FrameDetector, ReusedDetectorFindsTheSameAsANewOnePerFrame) {
  std::vector<Image<std::uint8_t>> frames;
  for (const Size size : {Size{200, 90}, {420, 130}, {30, 40}, {1, 1}, {200, 90}, {90, 200}})
    frames.push_back(drawn_faces(size));
  for (unsigned seed = 0; seed < 4; ++seed) frames.push_back(noise({200, 90}, seed));
  frames.push_back(drawn_faces({200, 90}));
  FrameDetector detector(default_model(), {.min_neighbors = 1}, make_cpu_backend());
  std::size_t found = 0;
  for (const Image<std::uint8_t>& frame : frames) {
    const std::vector<Face> faces = detector.detect(frame.view());
    EXPECT_EQ(faces, detect(default_model(), {.min_neighbors = 1}, frame.view()));
    EXPECT_EQ(detector.pyramid().image, frame.size());
    found += faces.size();
  }
  EXPECT_GE(found, 3u + 5 + 3 + 3);  // drawn_faces: 3 faces in each 200 x 90, 5 in 420 x 130
}

// ---- results ------------------------------------------------------------------------------------

TEST(FrameDetector, KeepsFacesInsideTheFrameAndInOrder) {
  // Windows whose boxes reach beyond the frame before they are clipped.
  std::size_t reaching_out = 0;
  for (const Size size : {Size{61, 47}, {47, 61}, {50, 50}, {33, 71}}) {
    const Image<std::uint8_t> picture = noise(size, 4);
    FrameDetector detector(pass_all({11, 13}), {.scale_factor = 1.13, .min_neighbors = 0},
                           make_cpu_backend());
    std::vector<Rect> found, expected;
    for (const Face& face : detector.detect(picture.view())) found.push_back(face.box);
    for (const Window& w : windows_of(detector)) {
      const Rect r = window_in_image(detector.pyramid().levels[w.level], {11, 13}, w.x, w.y);
      reaching_out += r.x + r.width > size.width || r.y + r.height > size.height;
      expected.push_back(rules::clipped(r, size));
    }
    std::erase_if(expected, [](const Rect& r) { return r.width <= 0 || r.height <= 0; });
    EXPECT_EQ(found, expected);
  }
  EXPECT_GT(reaching_out, 0u);  // otherwise nothing was clipped
}

TEST(FrameDetector, ReportsTimesAndCountsOfTheFrame) {
  const Image<std::uint8_t> faces = drawn_faces({200, 90}), nothing = flat({200, 90}, 1);
  FrameDetector detector(default_model(), {}, make_cpu_backend());
  detector.detect(faces.view());
  EXPECT_GT(detector.window_count(), 50u);
  for (const Step step : {Step::gray, Step::resize, Step::sat, Step::evaluate, Step::group})
    EXPECT_GT(detector.times()[step], 0) << step_names[static_cast<std::size_t>(step)];
  detector.detect(nothing.view());
  EXPECT_EQ(detector.window_count(), 0u);
  detector.detect(faces.view());
  detector.detect(Gray{});  // an empty frame
  EXPECT_EQ(detector.window_count(), 0u);
  EXPECT_EQ(detector.times()[Step::evaluate], 0);
}

TEST(FrameDetector, RefusesOptionsOutsideTheirRange) {
  EXPECT_THROW(FrameDetector(default_model(), {.scale_factor = 1}, make_cpu_backend()),
               ArgumentError);
  EXPECT_THROW(FrameDetector(default_model(), {.min_neighbors = -1}, make_cpu_backend()),
               ArgumentError);
}

TEST(FrameDetector, MayBeMovedBetweenFrames) {
  const Image<std::uint8_t> picture = drawn_faces({200, 90});
  auto first =
      std::make_unique<FrameDetector>(default_model(), DetectOptions{}, make_cpu_backend());
  EXPECT_EQ(first->detect(picture.view()).size(), 3u);
  FrameDetector second = std::move(*first);
  first.reset();
  EXPECT_EQ(second.detect(picture.view()).size(), 3u);
}

TEST(FrameDetector, FindsTheSameOnOneThreadAndOnTwo) {
  const Image<std::uint8_t> picture = drawn_faces({420, 130});
  const auto windows_on = [&](int threads) {
    FrameDetector detector(default_model(), {}, make_cpu_backend());
    tbb::task_arena(threads).execute([&] { detector.detect(picture.view()); });
    return windows_of(detector);
  };
  // Found by one thread alone.
  const std::vector<Window> alone = windows_on(1);
  EXPECT_GT(alone.size(), 100u);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(windows_on(2), alone);
}

// ---- snapshots ----------------------------------------------------------------------------------

// Compares every snapshot of level `index` with the reference. `gray` is the detector's grey image.
void expect_snapshots_as_defined(FrameDetector& detector, Gray gray, int index) {
  const Level& level = detector.pyramid().levels[index];
  const Image<std::uint8_t> pixels = reference::resized(gray, level.size);
  const auto snapshot = [&](Snapshot picture) {
    return detector.backend().snapshot(picture, index);
  };
  const auto without_border = [&](const Image<std::uint32_t>& table) {
    return table.view().sub({1, 1, level.size.width, level.size.height});
  };
  // cones: the tilted integral image, whose elements are sums over cones.
  const auto sums = reference::sums(pixels.view()),
             squares = reference::squared_sums(pixels.view()),
             cones = reference::tilted_sums(pixels.view());
  EXPECT_TRUE(same(snapshot(Snapshot::level).view(), pixels.view()));
  EXPECT_TRUE(same(snapshot(Snapshot::sum).view(), without_border(sums)));
  EXPECT_TRUE(same(snapshot(Snapshot::squared_sum).view(), without_border(squares)));
  EXPECT_TRUE(same(snapshot(Snapshot::depth).view(),
                   reference::depths(detector.cascade(), pixels.view(), level).view()));
  if (detector.cascade().has_tilted())
    EXPECT_TRUE(same(snapshot(Snapshot::tilted_sum).view(), without_border(cones)));
  else
    EXPECT_EQ(snapshot(Snapshot::tilted_sum).size(), Size{});
}

// The windows that the reference finds in all levels of the detector's pyramid.
std::vector<Window> reference_windows(const FrameDetector& detector, Gray gray, Scan scan) {
  std::vector<Window> all;
  for (int i = 0; i < std::ssize(detector.pyramid().levels); ++i) {
    const Level& level = detector.pyramid().levels[i];
    const auto found = reference::windows(
        detector.cascade(), reference::resized(gray, level.size).view(), level, i, scan);
    all.insert(all.end(), found.begin(), found.end());
  }
  return all;
}

// A kind of random cascade, and the seed of one that finds windows.
struct Seeded {
  const char* name;
  unsigned seed;
  CascadeShape shape;
};

class Snapshots : public ::testing::TestWithParam<Seeded> {};

// So do the windows.
TEST_P(Snapshots, EqualTheReferenceInEveryLevel) {
  const Image<std::uint8_t> picture = clouds({73, 61}, 5, 2);
  for (const Scan scan : {Scan::opencv, Scan::dense}) {
    const DetectOptions options{.scale_factor = 1.3, .scan = scan};
    FrameDetector detector(
        std::make_shared<Cascade>(random_cascade(GetParam().seed, GetParam().shape)), options,
        make_cpu_backend());
    detector.detect(picture.view());
    const int levels = static_cast<int>(detector.pyramid().levels.size());
    ASSERT_GT(levels, 4);
    const auto expected = reference_windows(detector, picture.view(), scan);
    EXPECT_GT(expected.size(), 20u);
    EXPECT_EQ(windows_of(detector), expected);
    EXPECT_TRUE(same(detector.backend().snapshot(Snapshot::gray, 0).view(), picture.view()));
    // Snapshots may be taken in any order of levels.
    for (const int index : {levels - 1, 0, levels - 2, 1, 2})
      expect_snapshots_as_defined(detector, picture.view(), index);
    EXPECT_EQ(windows_of(detector), expected);  // snapshots change no windows
  }
}

// Most of these pictures are wider or higher than a tile. A row of a tile may then begin within a
// run of windows that the first stage rejects, so that skipping depends on the tile to its left.
TEST_P(Snapshots, WindowsEqualTheReferenceAcrossTiles) {
  for (const Size size : {Size{1100, 30}, {1045, 24}, {30, 300}, {540, 140}})
    for (const Scan scan : {Scan::opencv, Scan::dense}) {
      const Image<std::uint8_t> picture = clouds(size, 6, 2);
      FrameDetector detector(
          std::make_shared<Cascade>(random_cascade(GetParam().seed, GetParam().shape)),
          {.scale_factor = 1.4, .scan = scan}, make_cpu_backend());
      detector.detect(picture.view());
      const auto expected = reference_windows(detector, picture.view(), scan);
      EXPECT_GT(expected.size(), 20u);
      on_every_instruction_set([&] {
        detector.detect(picture.view());
        EXPECT_EQ(windows_of(detector), expected);
      });
    }
}

INSTANTIATE_TEST_SUITE_P(FrameDetector, Snapshots,
                         ::testing::Values(Seeded{"Stumps", 3, {}},
                                           Seeded{
                                               "TiltedTrees", 4, {.tilted = true, .max_nodes = 3}},
                                           Seeded{"Lbp", 3, {.kind = FeatureKind::lbp}}),
                         [](const auto& tested) { return tested.param.name; });

TEST(FrameDetector, SnapshotShowsTheEqualizedGreyImage) {
  const Image<Bgr> frame = colour_noise({40, 30}, 6);
  FrameDetector detector(default_model(), {.equalize = true}, make_cpu_backend());
  detector.detect(frame.view());
  Image<std::uint8_t> gray = reference::gray(frame.view());
  cpu::equalize(gray.view(), gray.view());
  EXPECT_TRUE(same(detector.backend().snapshot(Snapshot::gray, 0).view(), gray.view()));
}

TEST(FrameDetector, SnapshotShowsTheNewFrameAfterOneOfTheOldFrame) {
  const Image<std::uint8_t> first = noise({40, 30}, 7), second = noise({40, 30}, 8);
  FrameDetector detector(default_model(), {}, make_cpu_backend());
  for (const Image<std::uint8_t>* frame : {&first, &second}) {
    detector.detect(frame->view());
    EXPECT_TRUE(same(detector.backend().snapshot(Snapshot::level, 0).view(), frame->view()));
  }
}

// ---- memory -------------------------------------------------------------------------------------

constexpr Size absurd{1'000'000, 1'000'000};  // 10^12 pixels, 1 TB

TEST(CpuBackend, RefusesWhatDoesNotFitBeforeAllocating) {
  const Pyramid pyramid = plan_pyramid(absurd, {24, 24}, {});
  const auto backend = make_cpu_backend();
  try {
    backend->prepare(default_model(), pyramid, {});
    FAIL() << "1 TB was granted";
  } catch (const MemoryError& error) {
    EXPECT_GE(error.bytes, absurd.area());  // at least the grey image
    // But no integral images of the whole frame: they only cover tiles.
    EXPECT_LE(error.bytes, 2 * absurd.area());
    EXPECT_NE(std::string(error.what()).find(std::to_string(error.bytes)), std::string::npos);
  }
}

TEST(FrameDetector, StaysUsableAfterARefusal) {
  const Image<std::uint8_t> picture = drawn_faces({200, 90});
  FrameDetector detector(default_model(), {}, make_cpu_backend());
  EXPECT_EQ(detector.detect(picture.view()).size(), 3u);
  const std::uint8_t never_read = 0;
  for (int i = 0; i < 2; ++i)
    EXPECT_THROW(detector.detect(Gray{&never_read, absurd, absurd.width}), MemoryError);
  EXPECT_EQ(detector.detect(picture.view()).size(), 3u);
}

}  // namespace
}  // namespace facesat::test
