#include "training/mining.hpp"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <map>
#include <set>
#include <thread>
#include <tuple>

#include <gtest/gtest.h>
#include <tbb/global_control.h>
#include <unistd.h>

#include "datasets/negatives.hpp"
#include "media/codec.hpp"
#include "support/errors.hpp"
#include "tests/kit/cascades.hpp"
#include "tests/kit/pictures.hpp"
#include "training/shuffle.hpp"
#if FACESAT_READS_VIDEOS
#include "tests/kit/video.hpp"
#endif

namespace facesat::training {
namespace {

namespace fs = std::filesystem;
using Gray = Image<std::uint8_t>;

// The first stages of OpenCV's cascade for frontal faces. Of windows of clouds, half pass 2 stages,
// 1 in 12 pass 5, 1 in 100 pass 9.
Cascade first_stages(std::size_t count) {
  Cascade cascade = *test::default_model();
  cascade.stages.resize(count);
  return cascade;
}

Gray mirrored(const Gray& picture) {
  const int right = picture.size().width - 1;
  return test::formula<std::uint8_t>(picture.size(),
                                     [&](int x, int y) { return picture.row(y)[right - x]; });
}

// What a few calls of a mine give.
struct Mined {
  Samples samples;
  std::vector<Origin> origins;
  std::vector<MiningProgress> progress;
};

class MiningTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) / ("facesat_mining_test" + std::to_string(::getpid()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  void add(Gray picture, std::string name = "") {
    if (name.empty())
      name = std::string(1, static_cast<char>('a' + sources_.inputs.size())) + ".png";
    write_picture(path(name), test::coloured(picture.view()).view());
    sources_.inputs.push_back(path(name));
    pictures_.push_back(std::move(picture));
  }
  void add_clouds(int count) {
    for (int i = 0; i < count; ++i)
      add(test::clouds({120 + 17 * i, 100 + 5 * i}, static_cast<unsigned>(i), 3));
  }

  std::unique_ptr<Mine> open(const MiningOptions& options = {}) const {
    return open_mine(std::make_shared<Negatives>(sources_), options);
  }
  static MiningProgress find(Mine& mine, const Cascade& cascade, std::size_t wanted, Mined& mined) {
    mined.samples.window = cascade.window;
    mined.progress.push_back(mine.find(cascade, wanted, mined.samples, {}, {}));
    mined.origins.insert(mined.origins.end(), mine.origins().begin(), mine.origins().end());
    return mined.progress.back();
  }
  // As training does: the cascade grows.
  Mined mine_stages(const MiningOptions& options = {}) const {
    const std::unique_ptr<Mine> mine = open(options);
    Mined mined;
    for (const std::size_t stages : {0, 2, 6, 10, 13}) find(*mine, first_stages(stages), 40, mined);
    return mined;
  }

  fs::path folder_;
  NegativeSources sources_;
  std::vector<Gray> pictures_;  // of the inputs
};

void expect_equal(const Mined& a, const Mined& b) {
  EXPECT_EQ(a.samples.pixels, b.samples.pixels);
  EXPECT_TRUE(a.origins == b.origins);
  EXPECT_TRUE(a.progress == b.progress);
}

// ---- which windows are found

// All windows of a picture that the detector finds.
std::map<std::uint64_t, double> detected(const Cascade& cascade, const Gray& picture,
                                         const WindowPositions& positions) {
  const std::unique_ptr<Backend> backend = make_cpu_backend();
  backend->prepare(std::make_shared<Cascade>(cascade), positions.pyramid(),
                   {.min_neighbors = 0, .scan = Scan::dense});
  backend->load(picture.view());
  backend->run();
  backend->collect();
  std::map<std::uint64_t, double> found;
  for (const Window& w : backend->windows()) found[positions.number({w.level, w.x, w.y})] = w.score;
  return found;
}

// With more wanted than there is, everything is found: every sample passes, and every window that
// passes is a sample.
TEST_F(MiningTest, FindsAllWindowsOfTheDetector) {
  add_clouds(3);
  std::vector<Cascade> cascades{first_stages(5), first_stages(9)};
  for (const auto& [name, shape] : test::cascade_shapes)
    cascades.push_back(test::random_cascade(4, shape));
  for (const Cascade& cascade : cascades) {
    std::size_t all = 0;
    for (const Gray& picture : pictures_) {
      const WindowPositions positions(picture.size(), cascade.window, 1.1);
      all += detected(cascade, picture, positions).size();
      all += detected(cascade, mirrored(picture), positions).size();
    }
    Mined mined;
    const MiningProgress progress = find(*open(), cascade, 10'000'000, mined);
    EXPECT_EQ(progress.found, all);
    EXPECT_LE(progress.round, 3);  // one window of each cell, the others, nothing new
    EXPECT_EQ(mined.samples.count(), all);
    const std::vector<Judgement> judgements = judge(cascade, mined.samples);
    ASSERT_EQ(mined.origins.size(), judgements.size());
    for (std::size_t i = 0; i < judgements.size(); ++i) {
      ASSERT_EQ(judgements[i].stages_passed, std::ssize(cascade.stages));
      ASSERT_EQ(judgements[i].score, mined.origins[i].score);
    }
  }
}

// The definition of the choice: of the windows that pass, the first ones in the picture's order, at
// most one of each cell.
TEST_F(MiningTest, ChoosesByTheOrderOfThePositions) {
  add_clouds(1);
  add(test::clouds({400, 300}, 9, 3));
  for (const std::size_t stages : {1, 5, 9})
    for (const int limit : {1, 7, 60}) {
      const Cascade cascade = first_stages(stages);
      std::vector<double> expected;
      for (std::uint64_t place = 0; place < 4; ++place) {
        const Gray& picture = pictures_[place % 2];
        const WindowPositions positions(picture.size(), cascade.window, 1.1);
        const Gray mirror = mirrored(picture);
        const auto passing = detected(cascade, place < 2 ? picture : mirror, positions);
        const Shuffle order(positions.count(), mixed(mixed(5) + place));
        std::set<std::tuple<int, int, int>> cells;
        for (std::uint64_t rank = 0; rank < positions.count() && std::ssize(cells) < limit;
             ++rank) {
          const std::uint64_t number = order.at(rank);
          const auto [level, x, y] = positions.place(number);
          if (passing.contains(number) && cells.emplace(level, x / 6, y / 6).second)
            expected.push_back(passing.at(number));
        }
      }
      Mined mined;
      find(*open({.per_picture = limit, .seed = 5}), cascade, 10'000, mined);
      std::vector<double> scores;
      for (const Origin& origin : mined.origins) scores.push_back(origin.score);
      EXPECT_EQ(scores, expected) << stages << " stages, " << limit;
      EXPECT_GT(expected.size(), 3u);
    }
}

TEST_F(MiningTest, OriginsAreBoxesInThePicture) {
  add(test::clouds({300, 200}, 2, 3));
  Mined mined;
  find(*open(), first_stages(2), 200, mined);
  ASSERT_EQ(mined.origins.size(), 200u);
  std::size_t compared = 0;
  for (std::size_t i = 0; i < mined.origins.size(); ++i) {
    const Origin& origin = mined.origins[i];
    if (origin.box.width != 24) continue;  // of a level that is not resized
    ++compared;
    for (int y = 0; y < 24; ++y)
      for (int x = 0; x < 24; ++x)
        ASSERT_EQ(mined.samples[i].row(y)[origin.mirrored ? 23 - x : x],
                  pictures_[0].row(origin.box.y + y)[origin.box.x + x]);
  }
  EXPECT_GT(compared, 10u);
}

TEST_F(MiningTest, IsTheSameForAnyNumberOfThreads) {
  add_clouds(7);
  const Mined expected = mine_stages();
  EXPECT_EQ(expected.samples.count(), 200u);
  for (const std::size_t threads : {1, 2, 8}) {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    expect_equal(mine_stages(), expected);
  }
}

TEST_F(MiningTest, IsTheSameWithoutMemory) {
  add_clouds(4);
  const Mined expected = mine_stages();
  sources_.kept_bytes = 0;
  expect_equal(mine_stages({.remembered_bytes = 0}), expected);
  sources_.kept_bytes = 30'000;  // of one picture and a half
  expect_equal(mine_stages({.remembered_bytes = 500}), expected);
}

TEST_F(MiningTest, SeedChoosesOtherWindows) {
  add_clouds(2);
  const Mined one = mine_stages({.seed = 1}), two = mine_stages({.seed = 2});
  EXPECT_NE(one.samples.pixels, two.samples.pixels);
}

// A cascade that is not the last one with further stages: what was remembered does not hold.
TEST_F(MiningTest, AnotherCascadeIsSearchedAnew) {
  add_clouds(2);
  const std::unique_ptr<Mine> mine = open(), other = open();
  Mined mined, expected;
  find(*mine, first_stages(12), 1'000'000, mined);
  const MineState empty = other->state();
  mine->restore(empty);
  mined = {};
  Cascade cascade = first_stages(12);
  cascade.stages[11].threshold -= 1;
  find(*mine, cascade, 1'000'000, mined);
  find(*other, cascade, 1'000'000, expected);
  expect_equal(mined, expected);
}

// ---- the walk through the pool

// Pictures of the window's size are samples as they are, in their order.
TEST_F(MiningTest, PicturesOfTheWindowsSizeAreTakenInTheirOrder) {
  const Cascade cascade = test::half_cascade({12, 10}, 1, 0, 1);
  for (unsigned i = 0; i < 16; ++i) add(test::noise({12, 10}, i));
  const Judge judge(cascade);
  Samples expected{cascade.window, {}};
  for (const Gray& picture : pictures_)
    if (judge.passes(judge(picture.view()))) expected.add(picture.view());
  ASSERT_GT(expected.count(), 4u);
  ASSERT_LT(expected.count(), 16u);

  const std::unique_ptr<Mine> mine = open({.mirrored = false});
  Mined mined;
  EXPECT_EQ(find(*mine, cascade, 2, mined).found, 2u);
  EXPECT_EQ(find(*mine, cascade, 1, mined).found, 1u);
  EXPECT_EQ(find(*mine, cascade, 100, mined).found, expected.count() - 3);
  EXPECT_EQ(mined.samples.pixels, expected.pixels);
  EXPECT_EQ(find(*mine, cascade, 1, mined).found, 0u);

  // Without stages, those that are left: the call begins after the last one that was searched.
  Mined rest;
  Cascade none = cascade;
  none.stages.clear();
  EXPECT_EQ(find(*mine, none, 100, rest).found, 16 - expected.count());
}

TEST_F(MiningTest, GoesOnAfterTheLastPictureAndWrapsAround) {
  add_clouds(5);
  const std::unique_ptr<Mine> mine = open({.mirrored = false, .per_picture = 1});
  Mined mined;
  for (const std::size_t wanted : {3, 4, 5}) find(*mine, first_stages(0), wanted, mined);
  std::vector<std::size_t> pictures;
  for (const Origin& origin : mined.origins) pictures.push_back(origin.picture);
  EXPECT_EQ(pictures, (std::vector<std::size_t>{0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1}));
  EXPECT_EQ(mine->state().next_picture, 2u);
}

TEST_F(MiningTest, ReadsOriginalsBeforeMirrorImages) {
  add_clouds(2);
  Mined mined;
  find(*open({.per_picture = 1}), first_stages(0), 4, mined);
  std::vector<std::pair<std::size_t, bool>> origins;
  for (const Origin& origin : mined.origins) origins.emplace_back(origin.picture, origin.mirrored);
  EXPECT_EQ(origins, (std::vector<std::pair<std::size_t, bool>>{
                         {0, false}, {1, false}, {0, true}, {1, true}}));
}

TEST_F(MiningTest, SpreadsOverThePictures) {
  add_clouds(8);
  Mined mined;
  EXPECT_EQ(find(*open({.mirrored = false}), first_stages(0), 160, mined).round, 1);
  std::map<std::size_t, int> counts;
  for (const Origin& origin : mined.origins) ++counts[origin.picture];
  EXPECT_EQ(counts.size(), 4u);  // each gives at most twice its share
  for (const auto& [picture, count] : counts) EXPECT_EQ(count, 40);
}

TEST_F(MiningTest, NoWindowIsGivenTwice) {
  add_clouds(2);
  const std::unique_ptr<Mine> mine = open();
  Mined mined;
  MiningProgress progress;
  std::size_t total = 0;
  do {
    progress = find(*mine, first_stages(12), 30, mined);
    total += progress.found;
  } while (progress.found > 0);
  EXPECT_EQ(progress.round, 1);  // one search without anything new
  Mined at_once;
  EXPECT_EQ(find(*open(), first_stages(12), 1'000'000, at_once).found, total);
  const std::vector<std::uint64_t> taken = mine->state().taken;
  EXPECT_EQ(std::set(taken.begin(), taken.end()).size(), total);
  EXPECT_EQ(mined.samples.count(), total);
  EXPECT_GT(total, 60u);
}

TEST_F(MiningTest, APictureGivesAtMostItsLimitPerCall) {
  add_clouds(2);
  const std::unique_ptr<Mine> mine = open({.mirrored = false, .per_picture = 3});
  Mined mined;
  EXPECT_EQ(find(*mine, first_stages(1), 100, mined).found, 6u);
  EXPECT_EQ(find(*mine, first_stages(1), 100, mined).found, 6u);
}

TEST_F(MiningTest, WindowsAtObjectsAreLeftOut) {
  add(test::clouds({300, 200}, 2, 3), "annotated.png");
  sources_.inputs.clear();
  const Box object{100, 60, 50, 40}, ignored{220, 20, 30, 90};
  sources_.annotated.pictures = {
      {path("annotated.png"), "annotated.png", {{object, "", false}, {ignored, "", true}}}};
  const Cascade cascade = first_stages(7);
  const WindowPositions positions({300, 200}, cascade.window, 1.1);
  const std::vector<Box> objects{object, ignored};
  std::size_t expected = 0;
  for (const auto& [number, score] : detected(cascade, pictures_[0], positions))
    expected += !overlaps(positions.box(positions.place(number)), objects);
  Mined mined;
  find(*open({.mirrored = false}), cascade, 1'000'000, mined);
  EXPECT_EQ(mined.samples.count(), expected);
  find(*open(), cascade, 1'000'000, mined);
  for (const Origin& origin : mined.origins) EXPECT_FALSE(overlaps(origin.box, objects));
  // Also where positions are judged one at a time.
  find(*open(), first_stages(0), 100, mined);
  for (const Origin& origin : mined.origins) EXPECT_FALSE(overlaps(origin.box, objects));
}

TEST(OverlapTest, IsMeasuredByTheSmallerArea) {
  const std::vector<Box> objects{{10, 10, 20, 10}};
  EXPECT_FALSE(overlaps({0, 0, 10, 10}, objects));
  EXPECT_FALSE(overlaps({0, 0, 30, 12}, objects));  // 40 of 200
  EXPECT_TRUE(overlaps({0, 0, 30, 13}, objects));
  EXPECT_TRUE(overlaps({0, 0, 100, 100}, objects));  // all of the object
  EXPECT_TRUE(overlaps({15, 12, 4, 4}, objects));    // lies in the object
  EXPECT_FALSE(overlaps({28, 12, 10, 8}, objects));  // 16 of 80
  EXPECT_TRUE(overlaps({27, 12, 10, 8}, objects));
  EXPECT_FALSE(overlaps({15, 12, 4, 4}, {}));
}

#if FACESAT_READS_VIDEOS
// Frame i has the grey value 8 i. Windows of LBP cascades may have a low variance.
TEST_F(MiningTest, FramesOfVideosAreReadInTheirOrder) {
  test::write_video(path("v.avi"), 25);
  sources_ = {.inputs = {path("v.avi")}, .frames = {.every = 1}, .kept_bytes = 0};
  const Cascade cascade{.kind = FeatureKind::lbp, .window = {24, 24}};
  const std::unique_ptr<Mine> mine = open({.mirrored = false, .per_picture = 1});
  Mined mined;
  for (const std::size_t wanted : {10, 12, 13})
    EXPECT_EQ(find(*mine, cascade, wanted, mined).found, wanted);
  for (std::size_t i = 0; i < mined.samples.count(); ++i) {
    EXPECT_EQ(mined.origins[i].picture, i % 25);
    EXPECT_NEAR(mined.samples[i].row(12)[12], 8 * static_cast<int>(i % 25), 2);
  }
}
#endif

// ---- state, stopping and warnings

TEST_F(MiningTest, GoesOnFromARestoredState) {
  add_clouds(3);
  const Mined expected = mine_stages();
  Mined mined;
  MineState state = open()->state();
  for (const std::size_t stages : {0, 2, 6, 10, 13}) {  // a new mine for every stage
    const std::unique_ptr<Mine> mine = open();
    mine->restore(state);
    find(*mine, first_stages(stages), 40, mined);
    state = mine->state();
  }
  expect_equal(mined, expected);
}

TEST_F(MiningTest, StatesOfOtherPicturesAreRefused) {
  add_clouds(3);
  MineState state = open()->state();
  std::swap(sources_.inputs[0], sources_.inputs[1]);
  EXPECT_THROW(open()->restore(state), ArgumentError);
  EXPECT_THROW(open({.mirrored = false})->restore(open()->state()), ArgumentError);
  state = open()->state();
  state.taken = {std::uint64_t{6} << 40};  // there are 3 pictures and 3 mirror images
  EXPECT_THROW(open()->restore(state), ArgumentError);
}

TEST_F(MiningTest, AStoppedSearchLeavesTheMineAsItWas) {
  add_clouds(4);
  const std::unique_ptr<Mine> mine = open();
  Mined mined;
  find(*mine, first_stages(1), 50, mined);
  const MineState before = mine->state();
  const std::vector<Origin> origins = mine->origins();
  const std::vector<std::uint8_t> pixels = mined.samples.pixels;
  for (const int polls : {0, 1, 20, 200, 1000}) {
    std::atomic<int> left = polls;
    EXPECT_THROW(
        mine->find(first_stages(9), 1'000'000, mined.samples, {}, [&] { return --left < 0; }),
        Stopped);
    EXPECT_EQ(mine->state().taken, before.taken);
    EXPECT_EQ(mine->state().next_picture, before.next_picture);
    EXPECT_EQ(mined.samples.pixels, pixels);
    EXPECT_TRUE(mine->origins() == origins);
  }
  Mined rest, expected;
  find(*mine, first_stages(2), 50, rest);
  const std::unique_ptr<Mine> other = open();
  other->restore(before);
  find(*other, first_stages(2), 50, expected);
  expect_equal(rest, expected);
}

TEST_F(MiningTest, ReportsFromTheCallingThread) {
  add_clouds(3);
  std::vector<MiningProgress> reports;
  const auto thread = std::this_thread::get_id();
  Samples samples{{24, 24}, {}};
  const MiningProgress last = open()->find(first_stages(9), 1'000'000, samples,
                                           [&](const MiningProgress& progress) {
                                             EXPECT_EQ(std::this_thread::get_id(), thread);
                                             reports.push_back(progress);
                                           },
                                           {});
  ASSERT_FALSE(reports.empty());
  EXPECT_EQ(reports.back().found, last.found);
  EXPECT_EQ(last.all_pictures, 6u);
  EXPECT_GT(last.windows, 200'000u);
  EXPECT_GT(last.accepted, 0u);
  EXPECT_LT(last.accepted, last.windows / 10);
}

TEST_F(MiningTest, AReportMayEndTheSearch) {
  add_clouds(1);
  const std::unique_ptr<Mine> mine = open();
  Samples samples{{24, 24}, {}};
  const auto report = [](const MiningProgress&) { throw Stopped(); };
  EXPECT_THROW(mine->find(first_stages(0), 10, samples, report, {}), Stopped);
  EXPECT_EQ(samples.count(), 0u);
  EXPECT_TRUE(mine->state().taken.empty());
}

TEST_F(MiningTest, WarnsOfPicturesThatGiveNothing) {
  add(test::clouds({60, 50}, 1, 3));
  add(test::noise({23, 40}, 2), "small.png");
  add(test::noise({40, 20}, 3), "low.png");
  sources_.inputs.push_back(path("missing.png"));
  const std::unique_ptr<Mine> mine = open();
  Mined mined;
  find(*mine, first_stages(0), 1000, mined);
  const std::vector<std::string> warnings = mine->warnings();
  ASSERT_EQ(warnings.size(), 2u);
  EXPECT_TRUE(warnings[0].starts_with(path("missing.png") + ": ")) << warnings[0];
  EXPECT_EQ(warnings[1], path("small.png") +
                             ": 23x40 pixels are less than the window, and so are those of 1 more");
}

TEST_F(MiningTest, RefusesPicturesOfWhichNoneCanBeUsed) {
  add(test::noise({23, 40}, 2), "small.png");
  const std::unique_ptr<Mine> mine = open();
  Mined mined;
  EXPECT_THROW(find(*mine, first_stages(0), 10, mined), ArgumentError);
  EXPECT_THROW(open({.scale_factor = 1}), ArgumentError);
  EXPECT_THROW(open({.per_picture = -1}), ArgumentError);
}

// A picture of one brightness has windows, but none of them is taken.
TEST_F(MiningTest, TakesNoLowVarianceWindows) {
  add(test::flat({200, 200}, 128));
  Mined mined;
  const MiningProgress progress = find(*open(), first_stages(0), 10, mined);
  EXPECT_EQ(progress.found, 0u);
  EXPECT_EQ(progress.accepted, 0u);
  EXPECT_GT(progress.windows, 0u);
}

}  // namespace
}  // namespace facesat::training
