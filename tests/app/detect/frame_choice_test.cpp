// --every and --fps: which frames of videos and animations are searched.
#include <cmath>

#include "media/video_source.hpp"
#include "tests/kit/program.hpp"
#include "tests/kit/video.hpp"

namespace facesat::test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using namespace std::string_literals;

// A GIF of 1 x 1 pixel that shows each frame for that many hundredths of a second.
std::string gif(const std::vector<int>& delays) {
  std::string file = "GIF89a\1\0\1\0\x80\0\0\0\0\0\xFF\xFF\xFF"s;  // black and white
  for (std::size_t i = 0; i < delays.size(); ++i)
    file += "\x21\xF9\4\0"s + static_cast<char>(delays[i] % 256) +
            static_cast<char>(delays[i] / 256) + "\0\0"s + "\x2C\0\0\0\0\1\0\1\0\0\2\2"s +
            (i % 2 == 0 ? "\x4C\1\0"s : "\x44\1\0"s);
  return file + "\x3B";
}

// The frames that --fps means, among those of the whole video.
std::vector<Json> per_second(const std::vector<Json>& all, double rate) {
  std::vector<Json> chosen;
  double due = 0;  // the next multiple of 1 / rate
  for (const Json& record : all) {
    const double time = record["time"];
    if (time < due / rate - 0.001) continue;
    chosen.push_back(record);
    while (due / rate - 0.001 <= time) ++due;
  }
  return chosen;
}

class FrameChoiceTest : public ProgramTest {
 protected:
  std::vector<Json> records(const std::vector<std::string>& arguments) const {
    const Finished done = detect(arguments);
    EXPECT_EQ(done.status, 0) << done.err;
    return done.records();
  }
};

TEST_F(FrameChoiceTest, EveryNthFrameHasTheRecordOfTheWholeVideo) {
  write_video((folder / "v.avi").string(), 20);
  const std::vector<Json> all = records({"--raw", "v.avi"});
  ASSERT_EQ(all.size(), 20u);
  for (const int every : {1, 2, 7, 19, 20, 2147483647}) {
    std::vector<Json> expected;
    for (std::size_t i = 0; i < all.size(); i += static_cast<std::size_t>(every))
      expected.push_back(all[i]);
    EXPECT_EQ(records({"--raw", "--every", std::to_string(every), "v.avi"}), expected) << every;
  }
}

TEST_F(FrameChoiceTest, FramesPerSecondAreThoseOfTheVideosTime) {
  write_video((folder / "v.avi").string(), 60);  // 50 per second
  const std::vector<Json> all = records({"v.avi"});
  for (const char* rate : {"0.5", "1", "7", "10", "12.5", "25", "49", "50", "51", "1e6"}) {
    const std::vector<Json> found = records({"--fps", rate, "v.avi"});
    EXPECT_EQ(found, per_second(all, std::stod(rate))) << rate;
  }
  EXPECT_EQ(records({"--fps", "10", "v.avi"}).size(), 12u);
  EXPECT_EQ(records({"--fps", "1000", "v.avi"}).size(), 60u);
}

TEST_F(FrameChoiceTest, AnimationsAreSearchedByTheTimesOfTheirFrames) {
  const std::vector<int> delays{10, 50, 10, 10, 10, 100, 2, 3, 30, 300, 10};
  write_text(folder / "a.gif", gif(delays));
  write_text(folder / "still.gif", gif({10}));
  const std::vector<Json> first = records({"a.gif"});
  ASSERT_EQ(first.size(), 1u);
  EXPECT_FALSE(first[0].contains("frame"));
  EXPECT_TRUE(first[0].contains("warning"));
  const std::vector<Json> all = records({"--every", "1", "a.gif"});
  ASSERT_EQ(all.size(), delays.size());
  double time = 0;
  for (std::size_t i = 0; i < delays.size(); time += delays[i++] / 100.0) {
    EXPECT_EQ(all[i]["frame"], i);
    EXPECT_NEAR(all[i]["time"].get<double>(), time, 1e-6) << i;
    EXPECT_FALSE(all[i].contains("warning")) << all[i];
  }
  for (const char* rate : {"0.3", "1", "3", "5", "20"})
    EXPECT_EQ(records({"--fps", rate, "a.gif"}), per_second(all, std::stod(rate))) << rate;
  EXPECT_EQ(records({"--every", "4", "a.gif"}).size(), 3u);
  EXPECT_EQ(records({"--fps", "5", "still.gif"}), records({"still.gif"}));
}

TEST_F(FrameChoiceTest, PicturesAreNotConcerned) {
  add_face("a.pgm");
  EXPECT_EQ(records({"--every", "5", "a.pgm"}), records({"a.pgm"}));
  EXPECT_EQ(records({"--fps", "5", "a.pgm"}), records({"a.pgm"}));
}

TEST_F(FrameChoiceTest, WrittenPicturesHaveTheNumbersOfTheVideo) {
  fs::create_directory(folder / "in");
  write_video((folder / "in/v.avi").string(), 12);
  write_text(folder / "in/a.gif", gif({10, 10, 10}));
  write_text(folder / "in/b.gif", gif({10}));
  detect({"--every", "5", "--annotate", "boxes", "in"});
  const std::vector<std::string> expected{"a.gif_000000.jpg", "b.gif.png", "v.avi_000000.jpg",
                                          "v.avi_000005.jpg", "v.avi_000010.jpg"};
  EXPECT_EQ(files_below("boxes"), expected);
  for (const char* shard : {"0/2", "1/2"})
    detect({"--every", "5", "--annotate", "of_shards", "--shard", shard, "in"});
  EXPECT_EQ(files_below("of_shards"), expected);
}

TEST_F(FrameChoiceTest, AVideoThatEndsEarlyHasAWarningAtItsLastChosenFrame) {
  write_video((folder / "whole.avi").string(), 100);
  const std::string bytes = read_text(folder / "whole.avi");
  write_text(folder / "cut.avi", bytes.substr(0, bytes.size() / 2));
  const std::vector<Json> all = records({"cut.avi"}), found = records({"--every", "7", "cut.avi"});
  ASSERT_EQ(found.size(), (all.size() + 6) / 7);
  EXPECT_EQ(found.back()["warning"], all.back()["warning"]);
  EXPECT_FALSE(found.front().contains("warning"));
}

TEST_F(FrameChoiceTest, ResumeContinuesAfterAnyFrame) {
  for (const char* name : {"a", "b"}) fs::create_directory(folder / name);
  write_video((folder / "a/v.avi").string(), 12);
  write_video((folder / "b/v.avi").string(), 9);
  write_text(folder / "broken.jpg", "broken");  // so that the journal stays
  for (const char* choice : {"--every=4", "--fps=20"}) {
    const auto arguments = [&](std::vector<std::string> more) {
      more.insert(more.end(), {choice, "-o", "r", "a", "b", "broken.jpg"});
      return more;
    };
    EXPECT_EQ(detect(arguments({})).status, 1);
    const std::string expected = read_text(folder / "r"), journal = read_text(folder / "r.resume");
    EXPECT_GE(parse_records(expected).size(), 7u);
    for (std::size_t keep = 1; keep < expected.size(); keep += expected.size() / 12 + 1) {
      write_text(folder / "r", expected.substr(0, keep));
      write_text(folder / "r.resume", journal);
      detect(arguments({"--resume"}));
      EXPECT_EQ(read_text(folder / "r"), expected) << choice << " after " << keep;
    }
    fs::remove(folder / "r");
    fs::remove(folder / "r.resume");
  }
}

TEST_F(FrameChoiceTest, ResumeWantsTheSameChoice) {
  write_video((folder / "v.avi").string(), 6);
  write_text(folder / "broken.jpg", "broken");
  const std::vector<std::vector<std::string>> choices{
      {}, {"--every", "1"}, {"--every", "3"}, {"--fps", "3"}, {"--fps", "3.5"}};
  const auto run_with = [&](std::vector<std::string> choice, const char* resume) {
    choice.insert(choice.end(), {resume, "-o", "r", "v.avi", "broken.jpg"});
    return detect(choice);
  };
  for (const auto& first : choices) {
    EXPECT_EQ(run_with(first, "-q").status, 1);
    const std::string expected = read_text(folder / "r");
    for (const auto& second : choices) {
      const Finished done = run_with(second, "--resume");
      EXPECT_EQ(done.status, first == second ? 1 : 2) << done.err;
      if (first != second) {
        EXPECT_NE(done.err.find("was begun with --"), std::string::npos) << done.err;
      }
      EXPECT_EQ(read_text(folder / "r"), expected);
    }
  }
}

// Without a journal, options are unknown: what was searched is told by the numbers of frames.
TEST_F(FrameChoiceTest, RecordsWithoutAJournalCountByTheirNumbers) {
  write_video((folder / "v.avi").string(), 12);
  const std::string all = detect({"v.avi"}).out;
  std::size_t end = 0;
  for (int frame = 0; frame < 7; ++frame) end = all.find('\n', end) + 1;
  write_text(folder / "r", all.substr(0, end));
  detect({"--resume", "--every", "5", "-o", "r", "v.avi"});
  std::vector<Json> expected = parse_records(all.substr(0, end));
  expected.push_back(parse_records(all)[10]);
  EXPECT_EQ(parse_records(read_text(folder / "r")), expected);
}

// A video of 30 frames, one per 40 ms, that counts what is done to it.
struct Counts {
  int grabbed = 0, retrieved = 0;
};
class CountedVideo final : public VideoInput {
 public:
  explicit CountedVideo(Counts& counts) : counts_(counts) {}
  bool grab() override { return ++counts_.grabbed <= 30; }
  std::optional<Picture> retrieve(MakeFrame make) override {
    ++counts_.retrieved;
    return to_picture(make({4, 4}));
  }
  double get(Property property) const override {
    return property == fps           ? 25
           : property == frame_count ? 30
           : property == pos_frames  ? counts_.grabbed
           : property == pos_msec    ? 40 * (counts_.grabbed - 1)
                                     : 0;
  }
  void set(Property, double) override {}

 private:
  Counts& counts_;
};

TEST(FrameChoices, OtherFramesAreNotRetrieved) {
  const FrameChoice every{.every = 7}, of_time{.per_second = 5};
  for (const FrameChoice& choice : {every, of_time}) {
    Counts counts;
    VideoSource source(FrameSource::Kind::video, "", std::make_unique<CountedVideo>(counts));
    source.choose(choice);
    const int step = choice.every > 0 ? 7 : 5;
    int frames = 0;
    while (const std::optional<Frame> frame = source.next()) {
      EXPECT_EQ(frame->number, frames * step);
      EXPECT_NEAR(frame->time, frames * step * 0.04, 1e-9);
      ++frames;
    }
    EXPECT_EQ(frames, (30 + step - 1) / step);
    EXPECT_EQ(counts.retrieved, frames);
    EXPECT_EQ(counts.grabbed, 31);
  }
}

}  // namespace
}  // namespace facesat::test
