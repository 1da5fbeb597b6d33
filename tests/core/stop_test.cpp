// Stopping a detection: it must end soon, whatever the cascade, and leave nothing behind.
#include "core/stop.hpp"

#include <algorithm>
#include <atomic>
#include <ctime>
#include <memory>
#include <ostream>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <tbb/task_arena.h>

#include "core/frame_detector.hpp"
#include "tests/kit/cascades.hpp"
#include "tests/kit/pictures.hpp"
#include "tests/kit/printers.hpp"

namespace facesat::test {
namespace {

using Model = std::shared_ptr<const Cascade>;

// A function that asks to stop from its `number`-th call on.
ShouldStop at_question(int number) {
  return [count = std::make_shared<std::atomic<int>>(), number] { return ++*count >= number; };
}

TEST(StopMeter, AsksOnceThereIsEnoughWork) {
  int asked = 0;
  const ShouldStop count = [&] { return ++asked == 3; };
  StopMeter meter(count);
  for (int i = 0; i < 100; ++i) meter.spend(1);  // too little work to ask
  EXPECT_EQ(asked, 0);
  meter.spend(1 << 20);
  meter.spend(1 << 20);
  EXPECT_EQ(asked, 2);
  EXPECT_THROW(meter.spend(1 << 20), Stopped);
}

TEST(StopMeter, WithoutAFunctionNeverStops) {
  const ShouldStop none;
  StopMeter first, second(none);
  for (StopMeter* meter : {&first, &second})
    for (int i = 0; i < 10; ++i) EXPECT_NO_THROW(meter->spend(std::int64_t{1} << 60));
  EXPECT_NO_THROW(check_stop(none));
}

// ---- how soon -----------------------------------------------------------------------------------

// A cascade of trees in which both children of a node are the next node, so that a window visits
// all nodes of every tree that it reaches.
struct Chains {
  const char* name;
  FeatureKind kind;
  int stages, trees, nodes;  // trees per stage, nodes per tree
  float threshold;           // all leaves are 0
};

void PrintTo(const Chains& chains, std::ostream* out) {
  *out << chains.name;
}

Model make(const Chains& chains) {
  Cascade cascade = half_cascade({12, 10}, 0, 0, chains.threshold);
  cascade.kind = chains.kind;
  if (chains.kind == FeatureKind::lbp) {
    cascade.haar.clear();
    cascade.lbp = {{{0, 0, 4, 3}}};
  }
  cascade.stages.clear();
  cascade.trees.clear();
  cascade.nodes.clear();
  for (int s = 0; s < chains.stages; ++s) {
    cascade.stages.push_back(
        {static_cast<int>(cascade.trees.size()), chains.trees, chains.threshold});
    for (int t = 0; t < chains.trees; ++t) {
      const int first = static_cast<int>(cascade.nodes.size());
      cascade.trees.push_back(
          {first, chains.nodes, first + static_cast<int>(cascade.trees.size())});
      for (int i = 1; i < chains.nodes; ++i) cascade.nodes.push_back({0, 0, {}, i, i});
      cascade.nodes.push_back({0, 0, {}, 0, chains.nodes == 1 ? -1 : 0});
    }
  }
  cascade.leaves.assign(cascade.nodes.size() + cascade.trees.size(), 0);
  return std::make_shared<Cascade>(std::move(cascade));
}

// Cascades with far more work than a test would wait for. All sums are 0: certainly below a
// threshold of 1, certainly not below -1e9, and too close to a threshold of 0 for vectors to
// decide.
constexpr Chains endless[] = {
    {"LargeTrees", FeatureKind::haar, 1, 100, 3000, 1},
    {"LargeLbpTrees", FeatureKind::lbp, 1, 100, 3000, 1},
    {"LargeTreesOfManyStages", FeatureKind::haar, 30, 3, 3000, -1e9f},
    {"SmallTrees", FeatureKind::haar, 1, 10'000, 16, 1},
    {"Stumps", FeatureKind::haar, 1, 200'000, 1, 1},
    {"StumpsThatPass", FeatureKind::haar, 1, 200'000, 1, -1e9f},
    {"LbpStumps", FeatureKind::lbp, 1, 200'000, 1, 1},
    {"UnsureStumps", FeatureKind::haar, 1, 8000, 1, 0},
    {"UnsureStumpsOfManyStages", FeatureKind::haar, 20, 8000, 1, 0},
    {"StumpsOfManyStages", FeatureKind::haar, 5000, 20, 1, -1e9f},
};

double thread_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

class EndlessCascade : public ::testing::TestWithParam<Chains> {};

// The longest time allowed between two questions whether to stop. Seconds of processor time of the
// thread, so that other load on the machine does not count. With most of these cascades, a row of
// windows takes more than ten times as long.
constexpr double soon = 0.2;

// Runs `work`, which is to stop after `seconds` of processor time. Expects that the detector asks
// often enough whether to stop, and then stops.
void expect_asked_often(FrameDetector& detector, double seconds,
                        const std::function<void()>& work) {
  double begin = thread_seconds(), last = begin, longest = 0;
  int asked = 0;
  detector.stop_when([&] {
    const double now = thread_seconds();
    longest = std::max(longest, now - last);
    last = now;
    ++asked;
    return now - begin > seconds;
  });
  EXPECT_THROW(work(), Stopped);
  longest = std::max(longest, thread_seconds() - last);
  EXPECT_LT(longest, soon) << "seconds between two of " << asked << " questions";
}

TEST_P(EndlessCascade, StopsSoonWhenAskedTo) {
  const Image<std::uint8_t> picture = noise({700, 200}, 1);
  FrameDetector detector(make(GetParam()), {.min_neighbors = 0}, make_cpu_backend());
  tbb::task_arena(1).execute([&] {
    detector.load(picture.view());  // compiles the cascade
    expect_asked_often(detector, 0.5, [&] { detector.start(); });
    expect_asked_often(detector, 0.3, [&] { detector.backend().snapshot(Snapshot::depth, 0); });
  });
}

INSTANTIATE_TEST_SUITE_P(Stop, EndlessCascade, ::testing::ValuesIn(endless),
                         ::testing::PrintToStringParamName());

// Windows of 60 x 60 at every pixel: each is similar to many others.
TEST(StopGrouping, StopsSoonInOneLargeCluster) {
  std::vector<Window> windows;
  for (int y = 0; y < 700; ++y)
    for (int x = 0; x < 700; ++x) windows.push_back({.box = {x, y, 60, 60}});
  const double begin = thread_seconds();
  EXPECT_THROW(group_faces(windows, 3, [&] { return thread_seconds() - begin > 0.3; }), Stopped);
  EXPECT_LT(thread_seconds() - begin, 0.3 + soon);
}

// Faces in a row, none of which contains another.
TEST(StopGrouping, StopsSoonAmongManyFaces) {
  std::vector<WindowClass> classes;
  for (int face = 0; face < 50'000; ++face)
    classes.push_back({.x = 4 * 30 * face, .width = 4 * 24, .height = 4 * 24, .count = 4});
  const double begin = thread_seconds();
  EXPECT_THROW(group_classes(classes, 1, [&] { return thread_seconds() - begin > 0.2; }), Stopped);
  EXPECT_LT(thread_seconds() - begin, 0.2 + soon);
}

// ---- what is left behind ------------------------------------------------------------------------

// Detects in another frame and stops at the first question whether to stop, then at later and later
// ones, until two detections end before they are stopped. After each, the detector must still find
// in `frame` what it found at first.
template <class Frame>
void stop_everywhere(const DetectOptions& options, int threads, const Frame& frame) {
  FrameDetector detector(default_model(), options, make_cpu_backend());
  // `frame` upside down.
  const Frame other = [&] {
    Frame copied(frame.size());
    for (int y = 0; y < frame.size().height; ++y)
      std::copy_n(frame.row(frame.size().height - 1 - y), frame.size().width, copied.row(y));
    return copied;
  }();
  tbb::task_arena(threads).execute([&] {
    const std::vector<Face> expected = detector.detect(frame.view());
    EXPECT_FALSE(expected.empty());
    int stops = 0;
    for (int number = 1, done = 0; done < 2; number += 1 + number / 8) {
      detector.stop_when(at_question(number));
      try {
        detector.detect(other.view());
        ++done;
      } catch (const Stopped&) {
        ++stops;
      }
      detector.stop_when({});
      EXPECT_EQ(detector.detect(frame.view()), expected) << "stopped at question " << number;
    }
    EXPECT_GT(stops, 10);
  });
}

TEST(Stop, LeavesTheDetectorReady) {
  stop_everywhere({.min_neighbors = 1}, 1, drawn_faces({420, 130}));
  stop_everywhere({.min_neighbors = 1, .equalize = true}, 2, drawn_faces({420, 130}));
}

TEST(Stop, LeavesTheDetectorReadyForColour) {
  const Image<std::uint8_t> faces = drawn_faces({420, 130});
  stop_everywhere({.min_neighbors = 0}, 2, coloured(faces.view()));
}

TEST(Stop, ChangesNothingUntilItHappens) {
  const Image<std::uint8_t> picture = drawn_faces({420, 130});
  for (const int min_neighbors : {0, 3}) {
    FrameDetector plain(default_model(), {.min_neighbors = min_neighbors}, make_cpu_backend());
    FrameDetector asking(default_model(), {.min_neighbors = min_neighbors}, make_cpu_backend());
    asking.stop_when([] { return false; });
    EXPECT_EQ(asking.detect(picture.view()), plain.detect(picture.view()));
  }
}

TEST(Stop, LeavesNoWindowsOfTheFrameBefore) {
  FrameDetector detector(default_model(), {}, make_cpu_backend());
  detector.detect(drawn_faces({420, 130}).view());
  EXPECT_GT(detector.backend().collect(), 0u);
  detector.stop_when([] { return true; });
  EXPECT_THROW(detector.start(), Stopped);
  EXPECT_EQ(detector.backend().collect(), 0u);
  EXPECT_TRUE(detector.backend().windows().empty());
}

TEST(Stop, IsPossibleBeforeTheFirstFrame) {
  const Image<std::uint8_t> picture = drawn_faces({420, 130});
  FrameDetector detector(default_model(), {}, make_cpu_backend());
  detector.stop_when([] { return true; });
  EXPECT_THROW(detector.detect(picture.view()), Stopped);
  EXPECT_THROW(detector.load(picture.view()), Stopped);
  detector.stop_when({});
  EXPECT_FALSE(detector.detect(picture.view()).empty());
}

// load() converts the picture to grey, and asks while it does so.
TEST(Stop, HappensWhileALargePictureIsLoaded) {
  const Image<Bgr> frame = colour_noise({5000, 4000}, 1);
  FrameDetector detector(default_model(), {.min_size = {2000, 2000}}, make_cpu_backend());
  detector.load(frame.view());
  int asked = 0;
  detector.stop_when([&] { return ++asked > 2; });
  EXPECT_THROW(detector.load(frame.view()), Stopped);
}

// Another thread asks to stop while the detection is running, as a signal handler or a deadline
// does.
TEST(Stop, ComesFromAnotherThread) {
  const Image<std::uint8_t> picture = noise({700, 200}, 1);
  for (const int threads : {1, 2}) {
    std::atomic<bool> stop = false;
    FrameDetector detector(make(endless[0]), {}, make_cpu_backend());
    detector.load(picture.view());
    detector.stop_when([&] { return stop.load(); });
    const std::jthread other([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
      stop = true;
    });
    tbb::task_arena(threads).execute([&] { EXPECT_THROW(detector.start(), Stopped); });
  }
}

TEST(Stop, PassesOnAnExceptionOfTheFunction) {
  const Image<std::uint8_t> picture = drawn_faces({420, 130});
  FrameDetector detector(default_model(), {}, make_cpu_backend());
  int asked = 0;
  detector.stop_when([&]() -> bool {
    if (++asked == 20) throw std::out_of_range("twenty");
    return false;
  });
  tbb::task_arena(1).execute(
      [&] { EXPECT_THROW(detector.detect(picture.view()), std::out_of_range); });
  detector.stop_when({});
  EXPECT_FALSE(detector.detect(picture.view()).empty());
}

}  // namespace
}  // namespace facesat::test
