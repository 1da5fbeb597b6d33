#include "training/cross_validation.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "tests/kit/cascades.hpp"
#include "tests/kit/pictures.hpp"
#include "training/judge.hpp"
#include "training/window_positions.hpp"

namespace facesat::training {
namespace {

using Picture = Image<std::uint8_t>;

class PicturesInMemory final : public NegativePictures {
 public:
  explicit PicturesInMemory(std::vector<Picture> pictures) {
    for (Picture& picture : pictures)
      pictures_.push_back(std::make_shared<const Picture>(std::move(picture)));
  }
  std::size_t count() const override { return pictures_.size(); }
  std::string name(std::size_t picture) const override { return std::to_string(picture); }
  std::vector<Box> objects(std::size_t picture) const override {
    return picture % 2 == 1 ? std::vector<Box>{{30, 20, 40, 50}} : std::vector<Box>();
  }
  bool is_frame(std::size_t picture) const override { return picture > 2; }
  std::uint64_t checksum() const override { return 7; }
  std::optional<NegativePictures::Gray> read(std::size_t picture, const ShouldStop&) override {
    return NegativePictures::Gray{pictures_[picture]};
  }

 private:
  std::vector<std::shared_ptr<const Picture>> pictures_;
};

std::vector<Picture> clouds(int count) {
  std::vector<Picture> pictures;
  for (int i = 0; i < count; ++i)
    pictures.push_back(test::clouds({90 + 13 * i, 80 + 3 * i}, static_cast<unsigned>(i), 3));
  return pictures;
}

// Objects of one to three samples, each of which has the number of its object as its first pixel.
ObjectSamples numbered(std::size_t count) {
  ObjectSamples all{.samples = {{2, 2}, {}}};
  for (std::size_t object = 0; object < count; ++object) {
    std::vector<Picture> samples;
    for (std::size_t i = 0; i < 1 + object % 3; ++i)
      samples.push_back(test::flat({2, 2}, static_cast<std::uint8_t>(object)));
    all.add(object, samples);
  }
  return all;
}

TEST(Folds, HaveEachObjectOnceWithAllItsSamples) {
  const ObjectSamples all = numbered(50);
  std::multiset<int> tried;
  for (int number = 0; number < 4; ++number) {
    const auto [learnt, apart] = divided(all, Fold{number, 4, 9});
    EXPECT_EQ(learnt.count() + apart.count(), all.samples.count());
    std::set<int> objects;
    for (std::size_t i = 0; i < apart.count(); ++i) {
      objects.insert(apart[i].row(0)[0]);
      tried.insert(apart[i].row(0)[0]);
    }
    for (std::size_t i = 0; i < learnt.count(); ++i)
      EXPECT_FALSE(objects.contains(learnt[i].row(0)[0]));
    EXPECT_GE(objects.size(), 12u);
    EXPECT_LE(objects.size(), 13u);
  }
  for (std::size_t object = 0; object < 50; ++object)
    EXPECT_EQ(tried.count(static_cast<int>(object)), 1 + object % 3);
  const auto pixels = [&](const Fold& fold) { return divided(all, fold).second.pixels; };
  EXPECT_EQ(pixels({1, 4, 9}), pixels({1, 4, 9}));
  EXPECT_NE(pixels({1, 4, 9}), pixels({1, 4, 10}));
  EXPECT_EQ(divided(ObjectSamples{.samples = {{2, 2}, {}}}, Fold{}).second.count(), 0u);
}

TEST(Folds, HaveEachPictureOnce) {
  const auto all = std::make_shared<PicturesInMemory>(clouds(7));
  std::multiset<std::string> tried;
  std::set<std::uint64_t> checksums;
  for (int number = 0; number < 3; ++number) {
    const auto [learnt, apart] = divided(all, Fold{number, 3, 5});
    EXPECT_EQ(learnt->count() + apart->count(), 7u);
    checksums.insert({learnt->checksum(), apart->checksum()});
    for (std::size_t i = 0; i < apart->count(); ++i) {
      const std::string name = apart->name(i);
      const std::size_t whole = std::stoul(name);
      tried.insert(name);
      EXPECT_EQ(apart->objects(i), all->objects(whole));
      EXPECT_EQ(apart->is_frame(i), all->is_frame(whole));
      EXPECT_EQ(apart->read(i, {})->picture, all->read(whole, {})->picture);
      for (std::size_t k = 0; k < learnt->count(); ++k) EXPECT_NE(learnt->name(k), name);
    }
  }
  EXPECT_EQ(std::set(tried.begin(), tried.end()).size(), 7u);
  EXPECT_EQ(tried.size(), 7u);
  EXPECT_EQ(checksums.size(), 6u);
}

// All windows, judged one at a time.
TEST(Curves, CountTheWindowsThatPass) {
  Cascade cascade = *test::default_model();
  cascade.stages.resize(9);
  const Judge judge(cascade);
  std::vector<Picture> some = clouds(5);
  some.push_back(test::clouds({300, 220}, 9, 3));
  PicturesInMemory pictures(std::move(some));
  std::uint64_t windows = 0, pixels = 0;
  std::vector<std::uint64_t> accepted(10);
  for (std::size_t picture = 0; picture < pictures.count(); ++picture) {
    const auto gray = pictures.read(picture, {})->picture;
    const WindowPositions positions(gray->size(), cascade.window, 1.2);
    windows += positions.count();
    pixels += gray->size().area();
    Picture window(cascade.window);
    for (std::uint64_t number = 0; number < positions.count(); ++number) {
      const WindowPositions::Place place = positions.place(number);
      if (overlaps(positions.box(place), pictures.objects(picture))) continue;
      positions.cut(gray->view(), place, window.view());
      for (int k = judge(window.view()).stages_passed; k >= 0; --k) ++accepted[k];
    }
  }
  ASSERT_GT(accepted[9], 20u);
  ASSERT_GT(accepted[1], 60'000u);

  Samples positives{cascade.window, {}};
  for (unsigned i = 0; i < 40; ++i) positives.add(test::clouds(cascade.window, i, 3).view());
  const std::vector<Judgement> judged = training::judge(cascade, positives);
  for (const int least : {1, 6, 9}) {
    const Curve curve =
        curve_of(cascade, least, positives, pictures, 1.2, make_cpu_backend, ShouldStop());
    EXPECT_EQ(curve.windows, windows);
    EXPECT_DOUBLE_EQ(curve.megapixels, static_cast<double>(pixels) / 1e6);
    ASSERT_EQ(std::ssize(curve.points), 10 - least);
    for (const CurvePoint& point : curve.points) {
      const auto expected = static_cast<double>(accepted[point.stages]);
      // Of the many that pass one stage, some stand for all.
      const double error = least == 1 ? 10 * std::sqrt(expected) : 0;
      EXPECT_NEAR(static_cast<double>(point.accepted), expected, error) << point.stages;
      const auto hits = std::ranges::count_if(
          judged, [&](const Judgement& one) { return one.stages_passed >= point.stages; });
      EXPECT_DOUBLE_EQ(point.hit_rate, static_cast<double>(hits) / 40);
    }
  }
}

TEST(Curves, EndWhenToldTo) {
  PicturesInMemory pictures(clouds(5));
  const Cascade& cascade = *test::default_model();
  const Samples none{cascade.window, {}};
  EXPECT_THROW(curve_of(cascade, 3, none, pictures, 1.2, make_cpu_backend, [] { return true; }),
               Stopped);
}

TEST(Curves, AreLinearInTheLogarithmBetweenPoints) {
  const Curve curve{.megapixels = 2,
                    .windows = 0,
                    .points = {{5, 2000, 0.9}, {6, 200, 0.8}, {7, 200, 0.7}, {8, 0, 0.6}}};
  EXPECT_EQ(hit_rate_at(curve, 1e6), 0.9);
  EXPECT_EQ(hit_rate_at(curve, 1000), 0.9);
  EXPECT_NEAR(hit_rate_at(curve, std::sqrt(1000.0 * 100)).value(), 0.85, 1e-12);
  EXPECT_EQ(hit_rate_at(curve, 100), 0.8);
  EXPECT_NEAR(hit_rate_at(curve, std::sqrt(100 * 0.25)).value(), 0.65, 1e-12);
  EXPECT_EQ(hit_rate_at(curve, 0.25), 0.6);
  EXPECT_EQ(hit_rate_at(curve, 0.2), std::nullopt);
  EXPECT_EQ(hit_rate_at(Curve{}, 1), std::nullopt);
}

}  // namespace
}  // namespace facesat::training
