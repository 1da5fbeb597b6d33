// The shared Detector against the detector for one frame.
#include <atomic>

#include <gtest/gtest.h>

#include "cascades/cascade_store.hpp"
#include "core/frame_detector.hpp"
#include "tests/kit/cascades.hpp"
#include "tests/kit/pictures.hpp"
#include "tests/kit/printers.hpp"
#include "tests/kit/threads.hpp"
#include "tests/library/arrays.hpp"

namespace facesat::test {
namespace {

const BackendOptions cpu{.choice = BackendChoice::cpu};

std::vector<Face> expected_in(View<const Bgr> picture,
                              const std::shared_ptr<const Cascade>& cascade,
                              const DetectOptions& options = {}) {
  return FrameDetector(cascade, options, make_cpu_backend()).detect(picture);
}

class SharedDetector : public ::testing::Test {
 protected:
  const std::shared_ptr<const Cascade> cascade = find_cascade("frontalface_default");
  const Image<Bgr> faces = coloured(drawn_faces({430, 130}).view());
  const Detector detector{"frontalface_default", {}, cpu};
};

TEST_F(SharedDetector, FindsTheSameInAllFormatsAndLayouts) {
  const std::vector<Face> expected = expected_in(faces.view(), cascade);
  ASSERT_GT(expected.size(), 1u);
  for (const OwnedView& one : all_layouts(faces.view()))
    EXPECT_EQ(detector.detect(one.view).faces, expected) << one.name;
  const Image<std::uint8_t> gray = drawn_faces({430, 130});
  for (const bool upwards : {false, true}) {
    const OwnedView one = laid_out(image_view(gray.view()), 5, upwards, "");
    EXPECT_EQ(detector.detect(one.view).faces, expected) << upwards;
  }
}

TEST_F(SharedDetector, ReadsColoursInTheOrderOfTheirBytes) {
  const Image<Bgr> noise = colour_noise({200, 150}, 3);
  const DetectOptions raw{.min_neighbors = 0};
  const auto loose = std::make_shared<const Cascade>(half_cascade({20, 20}, 1, 0, 0.5f));
  const Detector loose_detector({loose}, raw, cpu);
  const std::vector<Face> expected = expected_in(noise.view(), loose, raw);
  ASSERT_GT(expected.size(), 100u);
  for (const OwnedView& one : all_layouts(noise.view()))
    EXPECT_EQ(loose_detector.detect(one.view).faces, expected) << one.name;
}

TEST_F(SharedDetector, TellsWindowsTimesAndPlace) {
  FrameDetector frame(cascade, {}, make_cpu_backend());
  frame.detect(faces.view());
  const Detection found = detector.detect(image_view(faces.view()));
  EXPECT_EQ(found.windows, frame.window_count());
  EXPECT_GT(found.times[Step::evaluate], 0);
  EXPECT_FALSE(found.on_gpu);
  EXPECT_FALSE(found.error);
  EXPECT_FALSE(detector.on_gpu());
  EXPECT_EQ(detector.device_name(), "CPU");
  EXPECT_EQ(detector.remark(), "");
}

TEST_F(SharedDetector, SeveralCascadesSearchEachImage) {
  const auto all = std::make_shared<const Cascade>(half_cascade({100, 100}, 1, 0, 0.5f));
  const Detector both({cascade, all}, {}, cpu);
  const std::vector<Face> found = both.detect(image_view(faces.view())).faces;
  std::vector<Face> of_first, of_second;
  for (Face face : found) {
    auto& group = face.cascade == 0 ? of_first : of_second;
    face.cascade = 0;
    group.push_back(face);
  }
  EXPECT_EQ(of_first, expected_in(faces.view(), cascade));
  EXPECT_EQ(of_second, expected_in(faces.view(), all));
  ASSERT_FALSE(of_second.empty());
  EXPECT_TRUE(std::is_sorted(found.begin(), found.end(),
                             [](const Face& a, const Face& b) { return a.cascade < b.cascade; }));
}

// Each face as it is without this, followed by what the other cascades find in this part alone.
TEST_F(SharedDetector, SeveralCascadesSearchInsideTheFacesOfOne) {
  const auto any = std::make_shared<const Cascade>(half_cascade({60, 60}, 1, 0, 0.5f));
  for (const std::vector<std::shared_ptr<const Cascade>>& cascades :
       {std::vector{cascade, any}, {any, cascade}}) {
    const std::size_t outer = cascades[0] == cascade ? 0 : 1;
    std::vector<Face> expected, without_empty;
    for (Face face : expected_in(faces.view(), cascade)) {
      face.cascade = outer;
      expected.push_back(face);
      std::vector<Face> inner = expected_in(faces.view().sub(face.box), any);
      if (!inner.empty()) without_empty.push_back(face);
      for (Face& one : inner) {
        one.box.x += face.box.x;
        one.box.y += face.box.y;
        one.cascade = 1 - outer;
        expected.push_back(one);
        without_empty.push_back(one);
      }
    }
    EXPECT_NE(expected, without_empty);
    DetectOptions options{.inside_of = cascade->name};
    EXPECT_EQ(Detector(cascades, options, cpu).detect(image_view(faces.view())).faces, expected);
    options.only_with_inner = true;
    EXPECT_EQ(Detector(cascades, options, cpu).detect(image_view(faces.view())).faces,
              without_empty);
  }
}

TEST_F(SharedDetector, TheCascadeWithOthersInsideIsOneOfSeveral) {
  const auto any = std::make_shared<const Cascade>(half_cascade({30, 30}, 1, 0, 0.5f));
  const auto expect_refused = [](const std::vector<std::shared_ptr<const Cascade>>& cascades,
                                 const DetectOptions& options) {
    EXPECT_THROW(Detector(cascades, options, cpu), ArgumentError);
  };
  expect_refused({cascade, any}, {.inside_of = "eye"});
  expect_refused({cascade, any}, {.only_with_inner = true});
  expect_refused({cascade, cascade}, {.inside_of = cascade->name});
  expect_refused({cascade}, {.inside_of = cascade->name});
}

TEST_F(SharedDetector, ManyThreadsShareOneObject) {
  std::vector<Image<Bgr>> pictures;
  std::vector<std::vector<Face>> expected;
  for (int i = 0; i < 4; ++i) {
    pictures.push_back(coloured(drawn_faces({300 + 40 * i, 130}).view()));
    expected.push_back(expected_in(pictures.back().view(), cascade));
  }
  std::atomic<int> different = 0;
  in_threads(8, [&](int t) {
    for (int i = 0; i < 20; ++i) {
      const int which = (i + t) % 4;
      different += detector.detect(image_view(pictures[which].view())).faces != expected[which];
    }
  });
  EXPECT_EQ(different, 0);
}

TEST_F(SharedDetector, ABatchKeepsItsOrderAndItsErrors) {
  const Image<Bgr> narrow = coloured(drawn_faces({300, 130}).view());
  const ImageView broken{.pixels = nullptr, .size = {10, 10}, .pitch = 30};
  const std::vector<ImageView> batch{
      image_view(faces.view()), broken, {}, image_view(narrow.view())};
  const std::vector<Detection> found = detector.detect_all(batch);
  ASSERT_EQ(found.size(), 4u);
  EXPECT_EQ(found[0].faces, expected_in(faces.view(), cascade));
  EXPECT_THROW(std::rethrow_exception(found[1].error), ArgumentError);
  EXPECT_TRUE(found[2].faces.empty() && !found[2].error);
  EXPECT_EQ(found[3].faces, expected_in(narrow.view(), cascade));
}

TEST_F(SharedDetector, RefusesWhatIsNoImage) {
  const std::uint8_t pixel[12]{};
  EXPECT_TRUE(detector.detect({}).faces.empty());
  EXPECT_TRUE(detector.detect({.pixels = pixel, .size = {0, 5}}).faces.empty());
  EXPECT_TRUE(detector.detect({.pixels = pixel, .size = {4, 1}}).faces.empty());  // any pitch
  EXPECT_THROW(detector.detect({.pixels = nullptr, .size = {1, 1}, .pitch = 3}), ArgumentError);
  EXPECT_THROW(detector.detect({.pixels = pixel, .size = {2, 2}, .pitch = 5}), ArgumentError);
  EXPECT_THROW(detector.detect({.pixels = pixel, .size = {2, 2}, .pitch = -5}), ArgumentError);
  EXPECT_THROW(detector.detect({.pixels = pixel, .size = {-2, 2}, .pitch = 6}), ArgumentError);
  EXPECT_THROW(detector.detect({.pixels = pixel, .size = {2, -2}, .pitch = 6}), ArgumentError);
}

TEST_F(SharedDetector, StopsWhenAsked) {
  EXPECT_THROW(detector.detect(image_view(faces.view()), [] { return true; }), Stopped);
  EXPECT_FALSE(detector.detect(image_view(faces.view())).faces.empty());
}

TEST_F(SharedDetector, MayBeMoved) {
  Detector first("frontalface_default", {}, cpu);
  Detector second = std::move(first);
  EXPECT_FALSE(second.detect(image_view(faces.view())).faces.empty());
}

TEST(DetectorOptions, AreChecked) {
  EXPECT_THROW(Detector("frontalface_default", {.scale_factor = 1}, cpu), ArgumentError);
  EXPECT_THROW(Detector("nose_ring", {}, cpu), CascadeError);
  EXPECT_THROW(Detector(std::vector<std::shared_ptr<const Cascade>>{}, {}, cpu), ArgumentError);
  EXPECT_THROW(Detector(std::vector<std::shared_ptr<const Cascade>>{nullptr}, {}, cpu),
               ArgumentError);
  EXPECT_THROW(Detector("frontalface_default", {}, {.device = "first"}), BackendError);
  EXPECT_THROW(Detector("frontalface_default", {}, {.sat = "nosuch"}), BackendError);
  if (!devices().empty()) return;
  EXPECT_THROW(Detector("frontalface_default", {}, {.choice = BackendChoice::cuda}), BackendError);
  EXPECT_NE(Detector().remark(), "");  // why it is on the CPU
}

TEST(Cascades, AreFoundByNamePathAndContents) {
  const CascadeInfo info = info_of(*find_cascade("frontalface_default"));
  EXPECT_EQ(info.name, "frontalface_default");
  EXPECT_EQ(info.window, (Size{24, 24}));
  EXPECT_EQ(info.stages, 25);
  EXPECT_EQ(info.trees, 2913);
  EXPECT_FALSE(info.is_lbp);
  EXPECT_EQ(info.features, "haar");
  const CascadeInfo own = info_of(*cascade_from_xml(lbp_cascade(), "own"));
  EXPECT_EQ(own.name, "own");
  EXPECT_TRUE(own.is_lbp);
  EXPECT_EQ(own.features, "lbp");
  EXPECT_THROW(cascade_from_xml("<opencv_storage/>", "own"), CascadeError);
  const std::vector<std::string> names = cascade_names();
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  EXPECT_NE(std::find(names.begin(), names.end(), default_cascade_name), names.end());
  EXPECT_FALSE(version().empty());
}

}  // namespace
}  // namespace facesat::test
