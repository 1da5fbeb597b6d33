#include "datasets/positives.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <set>

#include <gtest/gtest.h>
#include <tbb/global_control.h>

#include "core/resample.hpp"
#include "datasets/vec_file.hpp"
#include "support/errors.hpp"
#include "tests/kit/drawn_face.hpp"
#include "tests/kit/encode.hpp"
#include "tests/kit/messages.hpp"
#include "tests/kit/pictures.hpp"

namespace facesat::training {
namespace {

using Sources = std::vector<std::string>;
constexpr Size small_window{8, 6};

class PositivesTest : public ::testing::Test {
 protected:
  PositivesTest() {
    std::string name = (std::filesystem::temp_directory_path() / "positives-XXXXXX").string();
    folder = ::mkdtemp(name.data());
  }
  ~PositivesTest() override { std::filesystem::remove_all(folder); }

  std::string path(const std::string& name) const { return (folder / name).string(); }
  std::string write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((folder / name).parent_path());
    std::ofstream(folder / name, std::ios::binary) << text;
    return path(name);
  }
  Image<std::uint8_t> write_picture(const std::string& name, Size size, unsigned seed) const {
    std::filesystem::create_directories((folder / name).parent_path());
    Image<std::uint8_t> picture = test::clouds(size, seed, 2);
    test::write_pgm(folder / name, picture);
    return picture;
  }

  std::filesystem::path folder;
};

std::vector<std::uint8_t> pixels_of(View<const std::uint8_t> picture) {
  Samples samples{picture.size, {}};
  samples.add(picture);
  return samples.pixels;
}
std::vector<std::uint8_t> sample_of(const Positives& positives, std::size_t sample) {
  return pixels_of(positives.samples[sample]);
}

// ---- what is read

TEST_F(PositivesTest, AnnotatedObjectsAreCutOutAndStretched) {
  const auto a = write_picture("a.pgm", {40, 30}, 1), b = write_picture("b.pgm", {20, 20}, 2);
  const std::string info = write("info.dat", "a.pgm 2 4 5 16 9 10 10 8 6\nb.pgm 1 0 0 20 20\n");
  const Positives found = read_positives({info}, {.samples = {.window = small_window}});
  ASSERT_EQ(found.samples.count(), 3u);
  EXPECT_EQ(sample_of(found, 0),
            pixels_of(resampled(a.view(), {4, 5, 16, 9}, small_window).view()));
  EXPECT_EQ(sample_of(found, 1), pixels_of(a.view().sub({10, 10, 8, 6})));  // as it is
  EXPECT_EQ(sample_of(found, 2),
            pixels_of(resampled(b.view(), {0, 0, 20, 20}, small_window).view()));
  EXPECT_EQ(found.objects, (std::vector<std::size_t>{0, 1, 2}));
  EXPECT_EQ(found.report.text(),
            "3 samples of 3 objects in 2 pictures\n"
            "stretched by more than a quarter to the window's shape: 2\n");
}

TEST_F(PositivesTest, BoxesMayKeepTheirAspectRatio) {
  const auto a = write_picture("a.pgm", {40, 30}, 1);
  const std::string info = write("info.dat", "a.pgm 1 10 10 8 12\n");
  const Positives found =
      read_positives({info}, {.samples = {.window = small_window, .aspect = Aspect::keep}});
  EXPECT_EQ(sample_of(found, 0),
            pixels_of(resampled(a.view(), {6, 10, 16, 12}, small_window).view()));
}

TEST_F(PositivesTest, BoxesOutsideAreRefusedAndThoseAcrossTheEdgeAreCut) {
  const auto a = write_picture("a.pgm", {40, 30}, 1);
  const std::string info =
      write("info.dat", "a.pgm 4 -10 -9 26 29 100 0 8 8 32 22 8.6 8.6 0 0 3 30\n");
  const Positives found = read_positives({info}, {.samples = {.window = small_window}});
  ASSERT_EQ(found.samples.count(), 3u);
  EXPECT_EQ(sample_of(found, 0),
            pixels_of(resampled(a.view(), {0, 0, 16, 20}, small_window).view()));
  EXPECT_EQ(sample_of(found, 1),
            pixels_of(resampled(a.view(), {32, 22, 8, 8}, small_window).view()));
  EXPECT_EQ(
      found.report.text(),
      "3 samples of 3 objects in 1 picture\n"
      "refused: 1\n"
      "cut at the edge of the picture: 1\n"
      "smaller than half the window, so that the sample is blurred: 1\n"
      "stretched by more than a quarter to the window's shape: 3\n"
      "  a.pgm: the box -10 -9 26 29 reaches beyond the picture of 40x30 pixels, so it is cut "
      "there\n"
      "  a.pgm: the box 100 0 8 8 lies outside the picture of 40x30 pixels\n");
}

TEST_F(PositivesTest, WhatCannotBeReadIsReported) {
  write_picture("a.pgm", {40, 30}, 1);
  write("broken.pgm", "P5 broken");
  write("a.jsonl",
        R"({"image":"a.pgm","width":30,"height":40,"faces":[{"x":1,"y":1,"w":9,"h":9}]})"
        "\n"
        R"({"image":"broken.pgm","faces":[{"x":1,"y":1,"w":9,"h":9}]})"
        "\n"
        R"({"image":"missing.pgm","faces":[{"x":1,"y":1,"w":9,"h":9},{"x":1,"y":1,"w":0,"h":9}]})"
        "\n"
        R"({"image":"nothing.pgm","faces":[]})"
        "\n");
  const Positives found = read_positives({path("a.jsonl")}, {});
  EXPECT_EQ(found.samples.count(), 0u);
  EXPECT_EQ(found.report.refused, 3u);
  ASSERT_EQ(found.report.sentences.size(), 4u);
  EXPECT_TRUE(test::has(found.report.sentences[0], "a.jsonl, line 3: the box is 0 wide"));
  EXPECT_EQ(found.report.sentences[1],
            "a.pgm: it was annotated with 30x40 pixels, but has 40x30 after it was turned upright "
            "by its EXIF orientation");
  EXPECT_TRUE(test::has(found.report.sentences[2], "broken.pgm: "));
  EXPECT_TRUE(test::has(found.report.sentences[3], "missing.pgm: "));
  EXPECT_THROW(read_positives({path("missing.dat")}, {}), UsageError);
}

TEST_F(PositivesTest, IgnoredObjectsAreLeftOut) {
  write_picture("a.pgm", {40, 30}, 1);
  const std::string csv =
      write("a.csv", "image,x,y,w,h,label\na.pgm,1,1,9,9,car\na.pgm,2,2,9,9,bus\n");
  const Positives found = read_positives({csv}, {.annotations = {.labels = {"bus"}}});
  EXPECT_EQ(found.samples.count(), 1u);
  EXPECT_EQ(found.report.ignored, 1u);
}

TEST_F(PositivesTest, CropsAndVecFilesAreObjectsAsTheyAre) {
  const auto a = write_picture("crops/a.pgm", {16, 12}, 1),
             b = write_picture("crops/sub/b.pgm", small_window, 2);
  write_vec(path("c.vec"), {small_window, std::vector<std::uint8_t>(2 * small_window.area(), 7)});
  const Positives found = read_positives({path("crops"), path("c.vec"), path("crops/a.pgm")},
                                         {.samples = {.window = small_window}});
  ASSERT_EQ(found.samples.count(), 5u);
  EXPECT_EQ(sample_of(found, 0),
            pixels_of(resampled(a.view(), {0, 0, 16, 12}, small_window).view()));
  EXPECT_EQ(sample_of(found, 1), pixels_of(b.view()));
  EXPECT_EQ(sample_of(found, 3), std::vector<std::uint8_t>(small_window.area(), 7));
  EXPECT_EQ(sample_of(found, 4), sample_of(found, 0));
  EXPECT_TRUE(test::has(test::message_of<UsageError>([&] {
                          read_positives({path("c.vec")}, {.samples = {.window = {9, 9}}});
                        }),
                        "48 pixels, but a window of 9x9 has 81"));
}

TEST_F(PositivesTest, JpegsMayBeReadAsTheirLuma) {
  const test::Bytes jpeg = test::encode_jpeg({24, 24}, {});
  const std::string file = write("a.jpg", {jpeg.begin(), jpeg.end()});
  const Positives colour = read_positives({file}, {}),
                  luma = read_positives({file}, {.reading = Reading::luma});
  EXPECT_EQ(sample_of(luma, 0), pixels_of(read_picture(file, {}, Reading::luma).luma));
  EXPECT_NE(sample_of(luma, 0), sample_of(colour, 0));
}

TEST_F(PositivesTest, MostLimitsTheObjects) {
  write_picture("a.pgm", {40, 30}, 1);
  const std::string info = write("info.dat", "a.pgm 3 1 1 9 9 2 2 9 9 3 3 9 9\n");
  const Positives all = read_positives({info}, {}), two = read_positives({info}, {.most = 2});
  EXPECT_EQ(two.samples.count(), 2u);
  EXPECT_EQ(sample_of(two, 1), sample_of(all, 1));
}

// ---- copies

TEST_F(PositivesTest, CopiesFollowTheirObjectAndItsMirrorImage) {
  write_picture("a.pgm", {40, 30}, 1);
  const std::string info = write("info.dat", "a.pgm 2 10 10 16 12 2 2 16 12\n");
  PositiveOptions options{.samples = {.window = small_window}};
  options.samples = {
      .window = small_window, .copies = 2, .shift = 0.1, .scale = 0.2, .turn = 15, .mirror = true};
  const Positives found = read_positives({info}, options);
  ASSERT_EQ(found.samples.count(), 12u);
  EXPECT_EQ(found.objects, (std::vector<std::size_t>{0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1}));
  EXPECT_EQ(sample_of(found, 0),
            sample_of(read_positives({info}, {.samples = {.window = small_window}}), 0));
  for (std::size_t i = 0; i < 12; i += 2)
    for (int x = 0; x < small_window.width; ++x)
      EXPECT_EQ(found.samples[i].row(3)[x],
                found.samples[i + 1].row(3)[small_window.width - 1 - x]);
  std::set<std::vector<std::uint8_t>> different;
  for (std::size_t i = 0; i < 12; ++i) different.insert(sample_of(found, i));
  EXPECT_EQ(different.size(), 12u);
  PositiveOptions other = options;
  other.samples.seed = 2;
  EXPECT_NE(read_positives({info}, other).samples.pixels, found.samples.pixels);
}

TEST_F(PositivesTest, AreTheSameForAnyNumberOfThreads) {
  std::string text;
  for (int i = 0; i < 9; ++i) {
    const std::string name = "p" + std::to_string(i) + ".pgm";
    write_picture(name, {50, 40}, static_cast<unsigned>(i));
    write_picture("bg/" + name, {60, 50}, static_cast<unsigned>(i + 20));
    text += name + " 3 1 2 9 9 8 8 17 13 -2 20 15 15\n";
  }
  const std::string info = write("info.dat", text);
  PositiveOptions copied, drawn;
  copied.samples = {
      .copies = 3, .shift = 0.1, .scale = 0.2, .turn = 15, .brightness = 20, .contrast = 0.3};
  drawn.distortion.copies = 3;
  drawn.distortion.inverted_at_random = true;
  drawn.backgrounds = {path("bg")};
  for (const PositiveOptions& options : {copied, drawn}) {
    const Positives parallel = read_positives({info}, options);
    const tbb::global_control one(tbb::global_control::max_allowed_parallelism, 1);
    const Positives serial = read_positives({info}, options);
    EXPECT_EQ(parallel.samples.pixels, serial.samples.pixels);
    EXPECT_EQ(parallel.report.text(), serial.report.text());
    EXPECT_GT(parallel.samples.count(), 80u);
  }
}

double mean_difference(View<const std::uint8_t> a, View<const std::uint8_t> b) {
  double sum = 0;
  for (int y = 0; y < a.size.height; ++y)
    for (int x = 0; x < a.size.width; ++x) sum += std::abs(a.row(y)[x] - b.row(y)[x]);
  return sum / static_cast<double>(a.size.area());
}

TEST(Copies, WithoutDifferencesAreTheObject) {
  const Image<std::uint8_t> picture = test::clouds({60, 60}, 1, 4);
  Random random({1});
  const Rect box{10, 12, 32, 24};
  const Image<std::uint8_t> copy = random_copy(picture.view(), box, {.window = {16, 12}}, random);
  EXPECT_LT(mean_difference(copy.view(), resampled(picture.view(), box, {16, 12}).view()), 1);
}

TEST(Copies, DifferByNoMoreThanAsked) {
  // A ramp shows where its pixels come from.
  const Image<std::uint8_t> ramp =
      test::formula<std::uint8_t>({200, 200}, [](int x, int) { return x; });
  const Rect box{80, 80, 40, 40};
  double least = 255, most = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Random random({seed});
    const auto copy = random_copy(ramp.view(), box, {.window = {20, 20}, .shift = 0.25}, random);
    const double moved = copy.row(10)[10] - 101.0;  // of a shift of 0
    least = std::min(least, moved);
    most = std::max(most, moved);
  }
  EXPECT_NEAR(least, -10, 1);
  EXPECT_NEAR(most, 10, 1);
}

TEST(Copies, TurnAroundTheMiddle) {
  // A bar across the middle becomes a slanting one.
  const Image<std::uint8_t> bar = test::formula<std::uint8_t>(
      {100, 100}, [](int, int y) { return y >= 45 && y < 55 ? 255 : 0; });
  bool turned_left = false, turned_right = false;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Random random({seed});
    const auto copy =
        random_copy(bar.view(), {20, 20, 60, 60}, {.window = {30, 30}, .turn = 40}, random);
    EXPECT_GT(copy.row(14)[14], 200);  // the middle stays
    const auto lightest = [&](int x) {
      int best = 0;
      for (int y = 0; y < 30; ++y)
        if (copy.row(y)[x] > copy.row(best)[x]) best = y;
      return best;
    };
    turned_right |= lightest(2) + 6 < lightest(27);
    turned_left |= lightest(27) + 6 < lightest(2);
  }
  EXPECT_TRUE(turned_left && turned_right);
}

TEST(Copies, MayBeBrighterAndHaveMoreContrast) {
  const Image<std::uint8_t> gray = test::flat({40, 40}, 100);
  std::set<int> values;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Random random({seed});
    values.insert(
        random_copy(gray.view(), {10, 10, 20, 20}, {.window = {8, 8}, .brightness = 30}, random)
            .row(0)[0]);
  }
  EXPECT_GE(*values.begin(), 70);
  EXPECT_LE(*values.rbegin(), 130);
  EXPECT_GT(values.size(), 40u);
}

// The numbers are the same with every library and compiler.
TEST(RandomNumbers, AreThoseOfTheSeed) {
  Random random({1, 2});
  EXPECT_EQ(random.whole(0, 999'999), 33'854);
  EXPECT_EQ(random.whole(-5, 5), 2);
  EXPECT_EQ(random.fraction(), 0.8707578928798327);
  Random other({2, 1});
  EXPECT_NE(other.whole(0, 999'999), 33'854);
}

// ---- distortions

TEST(Distortions, WithoutAnglesShowTheObject) {
  const Image<std::uint8_t> picture = test::clouds({48, 36}, 1, 4),
                            behind = test::flat({16, 12}, 9);
  Random random({1});
  const DistortionOptions none{
      .intensity = 0, .max_x_angle = 0, .max_y_angle = 0, .max_z_angle = 0};
  const Rect whole{0, 0, 48, 36};
  const auto sample = distorted(picture.view(), whole, behind.view(), none, random);
  EXPECT_LT(mean_difference(sample.view(), resampled(picture.view(), whole, {16, 12}).view()), 1);
}

TEST(Distortions, ShowTheWholeObjectOverTheBackground) {
  const Image<std::uint8_t> picture = test::flat({60, 60}, 200), behind = test::flat({30, 30}, 50);
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Random random({seed});
    const DistortionOptions options{.intensity = 0};
    const auto sample = distorted(picture.view(), {0, 0, 60, 60}, behind.view(), options, random);
    std::uint8_t least = 255, most = 0;
    int left = 30, right = -1, top = 30, bottom = -1;
    for (int y = 0; y < 30; ++y)
      for (int x = 0; x < 30; ++x) {
        const std::uint8_t pixel = sample.row(y)[x];
        least = std::min(least, pixel);
        most = std::max(most, pixel);
        if (pixel < 125) continue;
        left = std::min(left, x), right = std::max(right, x);
        top = std::min(top, y), bottom = std::max(bottom, y);
      }
    EXPECT_EQ(most, 200);
    EXPECT_GE(least, 50);
    // It fills the window in one direction, and is in the middle of the other one.
    EXPECT_GE(std::max(right - left, bottom - top), 26) << seed;
    EXPECT_NEAR(left + right, 29, 3) << seed;
    EXPECT_NEAR(top + bottom, 29, 3) << seed;
  }
}

TEST(Distortions, LetTheBackgroundThroughAndInvertTheRest) {
  // The left half is transparent.
  const Image<std::uint8_t> picture =
      test::formula<std::uint8_t>({40, 40}, [](int x, int) { return x < 20 ? 250 : 100; });
  const Image<std::uint8_t> behind = test::flat({20, 20}, 70);
  Random random({1});
  const DistortionOptions options{.transparent = 255,
                                  .tolerance = 5,
                                  .inverted = true,
                                  .intensity = 0,
                                  .max_x_angle = 0,
                                  .max_y_angle = 0,
                                  .max_z_angle = 0};
  const auto sample = distorted(picture.view(), {0, 0, 40, 40}, behind.view(), options, random);
  EXPECT_EQ(sample.row(10)[4], 70);
  EXPECT_EQ(sample.row(10)[15], 155);
}

TEST_F(PositivesTest, DistortedCopiesHaveUsableBackgrounds) {
  test::write_pgm(folder / "object.pgm", test::flat({20, 20}, 0));
  test::write_pgm(folder / "light.pgm", test::flat({90, 70}, 200));
  test::write_pgm(folder / "tiny.pgm", test::flat({5, 5}, 100));
  write("bg.txt", "# backgrounds\ntiny.pgm\nlight.pgm\nmissing.pgm\n");
  PositiveOptions options;
  options.distortion = {.copies = 20, .transparent = 0, .intensity = 0};
  options.backgrounds = {path("bg.txt")};
  const Positives found = read_positives({path("object.pgm")}, options);
  ASSERT_EQ(found.samples.count(), 20u);
  EXPECT_EQ(found.samples.pixels, std::vector<std::uint8_t>(20 * 24 * 24, 200));
  ASSERT_EQ(found.report.sentences.size(), 2u);
  EXPECT_TRUE(test::has(found.report.sentences[0], "5x5 pixels are too few"));
  write("none.txt", "tiny.pgm\n");
  options.backgrounds = {path("none.txt")};
  EXPECT_TRUE(test::has(
      test::message_of<UsageError>([&] { read_positives({path("object.pgm")}, options); }),
      "no background can be used"));
}

// ---- held out

TEST(HeldOut, KeepsTheCopiesOfAnObjectTogether) {
  ObjectSamples positives{.samples = {{1, 1}, {}}};
  for (std::size_t i = 0; i < 300; ++i) {
    positives.samples.pixels.push_back(static_cast<std::uint8_t>(i / 3));
    positives.objects.push_back(i / 3);
  }
  const auto [rest, held] = held_out(positives, 0.25, 1);
  EXPECT_EQ(held.count(), 75u);
  EXPECT_EQ(rest.count(), 225u);
  const std::set<std::uint8_t> in_rest(rest.pixels.begin(), rest.pixels.end()),
      in_held(held.pixels.begin(), held.pixels.end());
  EXPECT_EQ(in_held.size(), 25u);
  EXPECT_EQ(in_rest.size(), 75u);
  for (const std::uint8_t object : in_held) EXPECT_FALSE(in_rest.contains(object));
  EXPECT_TRUE(std::ranges::is_sorted(held.pixels));
  EXPECT_NE(held_out(positives, 0.25, 2).second.pixels, held.pixels);
  EXPECT_EQ(held_out(positives, 0, 1).second.count(), 0u);
  EXPECT_EQ(held_out({.samples = {{1, 1}, {}}}, 0.5, 1).first.count(), 0u);
}

// ---- real sets

TEST(RealPositives, AreReadWhole) {
  const char* data = std::getenv("FACESAT_TEST_DATA");
  if (!data) GTEST_SKIP() << "FACESAT_TEST_DATA is not set";
  const std::string folder = std::string(data) + "/";
  const Positives faces = read_positives({folder + "train/faces_train.info.dat"}, {});
  EXPECT_EQ(faces.report.text(), "3000 samples of 3000 objects in 1 picture\n");
  const Positives cars =
      read_positives({folder + "train/cars_train.info.dat"}, {.samples = {.window = {50, 20}}});
  EXPECT_EQ(cars.report.text(), "550 samples of 550 objects in 1 picture\n");
  const Positives rowley = read_positives({folder + "cmu_mit/faces.csv"}, {});
  EXPECT_EQ(rowley.samples.count() + rowley.report.refused, 281u);
}

}  // namespace
}  // namespace facesat::training
