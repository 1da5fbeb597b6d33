// Videos frame by frame: their times, their ends, their names; --every and --fps: which frames of
// videos and animations are searched.

#include <opencv2/imgcodecs.hpp>
#include <opencv2/videoio.hpp>

#include "media/matroska.hpp"
#include "media/video_source.hpp"
#include "tests/kit/encode.hpp"
#include "tests/kit/program.hpp"
#include "tests/kit/video.hpp"

namespace facesat::test {
namespace {

using Videos = ProgramTest;

// Decoders delay frames where frames are stored in another order than shown (B-frames).
TEST_F(Videos, TheLastFramesHaveTimesToo) {
  const std::string file = path("h264.mp4");
  {
    cv::VideoWriter writer(file, cv::VideoWriter::fourcc('a', 'v', 'c', '1'), 25, {64, 48});
    if (!writer.isOpened()) GTEST_SKIP() << "skipped: this OpenCV writes no H.264";
    for (int i = 0; i < 30; ++i) {
      cv::Mat frame(48, 64, CV_8UC3, cv::Scalar::all(40));
      frame.colRange(i, i + 10).setTo(cv::Scalar(20, 150, 250));
      writer.write(frame);
    }
  }
  const auto records = detect({file}).records();
  ASSERT_EQ(records.size(), 30u);
  for (std::size_t i = 0; i < records.size(); ++i)
    EXPECT_NEAR(records[i]["time"].get<double>(), static_cast<double>(i) / 25, 1e-3) << i;
  EXPECT_FALSE(records.back().contains("warning"));
}

TEST_F(Videos, AVideoThatEndsEarlyHasAWarning) {
  write_video(path("whole.avi"), 100);
  const std::string bytes = read_text("whole.avi");
  write_text("cut.avi", bytes.substr(0, bytes.size() / 2));
  for (const auto& record : detect({"whole.avi"}).records())
    EXPECT_FALSE(record.contains("warning")) << record;
  const Finished done = run({"detect", "--format", "csv", "cut.avi"});
  EXPECT_TRUE(has(done.err, "cut.avi: the video ends early"));
  const auto records = detect({"cut.avi"}).records();
  ASSERT_GT(records.size(), 5u);
  ASSERT_LT(records.size(), 90u);
  for (std::size_t i = 0; i < records.size(); ++i)
    EXPECT_EQ(records[i].contains("warning"), i + 1 == records.size()) << records[i];
  EXPECT_TRUE(has(records.back()["warning"], "of its 2.00 seconds")) << records.back();
}

// A Matroska file states its size, so that even a few missing bytes are detected.
TEST_F(Videos, MatroskaThatIsCutOffHasAWarning) {
  write_video(path("whole.mkv"), 20);
  const std::string bytes = read_text("whole.mkv");
  write_text("cut.mkv", bytes.substr(0, bytes.size() - 40));
  write_text("half.mkv", bytes.substr(0, bytes.size() / 2));
  EXPECT_FALSE(detect({"whole.mkv"}).records().back().contains("warning"));
  for (const char* name : {"cut.mkv", "half.mkv"}) {
    const auto records = detect({name}).records();
    EXPECT_EQ(records.back().value("warning", "").find("the video ends early: the file has "), 0u)
        << records.back();
  }
}

// JPEGs one after the other.
TEST_F(Videos, RawMotionJpegHasAllItsFrames) {
  std::string bytes;
  for (int i = 0; i < 30; ++i) {
    std::vector<unsigned char> jpeg;
    cv::imencode(".jpg", cv::Mat(48, 64, CV_8UC3, cv::Scalar::all(8 * i)), jpeg);
    bytes.append(jpeg.begin(), jpeg.end());
  }
  for (const char* name : {"raw.mjpeg", "raw.MJPG", "raw.jpg"}) write_text(name, bytes);
  for (const char* name : {"raw.mjpeg", "raw.MJPG"}) {
    const auto records = detect({name}).records();
    ASSERT_EQ(records.size(), 30u) << name;
    for (std::size_t i = 0; i < records.size(); ++i) {
      EXPECT_EQ(records[i]["frame"], i);
      EXPECT_NEAR(records[i]["time"].get<double>(), static_cast<double>(i) / 25, 1e-3) << i;
      EXPECT_FALSE(records[i].contains("warning"));
    }
  }
  const auto picture = detect({"raw.jpg"}).records();
  ASSERT_EQ(picture.size(), 1u);
  EXPECT_EQ(picture[0]["warning"],
            "the file has several pictures: only the first one is looked at");
}

TEST(Matroska, StatesTheSizeOfTheFile) {
  using namespace std::string_literals;
  const std::string header = "\x1A\x45\xDF\xA3\x82xx", segment = "\x18\x53\x80\x67";
  EXPECT_TRUE(is_matroska(header));
  EXPECT_FALSE(is_matroska("RIFF"));
  // The header has 7 bytes, the segment's ID 4; then comes its size, in 1 to 8 bytes.
  EXPECT_EQ(matroska_size(header + segment + "\x85"), 7u + 5u + 5u);
  EXPECT_EQ(matroska_size(header + segment + "\x41\x02"), 7u + 6u + 0x102u);
  EXPECT_EQ(matroska_size(header + segment + "\x01\0\0\0\0\1\0\0"s), 7u + 12u + 0x10000u);
  EXPECT_EQ(matroska_size(header + segment + "\xFF"), std::nullopt);  // unknown
  EXPECT_EQ(matroska_size(header + segment + "\x01\xFF\xFF\xFF\xFF\xFF\xFF\xFF"), std::nullopt);
  const std::string whole = header + segment + "\x41\x02";
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_EQ(matroska_size(whole.substr(0, size)), std::nullopt) << size;
  EXPECT_EQ(matroska_size("\x1A\x45\xDF\xA3\x01\xFF\xFF\xFF\xFF\xFF\xFF\xFE"), std::nullopt);
  EXPECT_EQ(matroska_size(header + segment + "\0"s), std::nullopt);
}

TEST_F(Videos, NamesLikeUrlsAreFiles) {
  {
    cv::VideoWriter writer(path("video.mp4"), cv::VideoWriter::fourcc('m', 'p', '4', 'v'), 25,
                           {64, 48});
    ASSERT_TRUE(writer.isOpened());
    for (int i = 0; i < 3; ++i) writer.write(cv::Mat(48, 64, CV_8UC3, cv::Scalar::all(40 * i)));
  }
  for (const char* name : {"12:30.mp4", "http:/x.mp4", "rtsp:y.mp4", "in/file:z.mp4"}) {
    fs::create_directories((folder / name).parent_path());
    fs::copy(folder / "video.mp4", folder / name);
    const Finished done = detect({name});
    EXPECT_EQ(done.status, 0) << name << ": " << done.err;
    EXPECT_EQ(done.records().size(), 3u) << name;
  }
}

TEST_F(Videos, AVideoWithTooLargeFramesIsRefused) {
  write_video(path("video.avi"), 3);
  // Its frames have 64 x 48 = 3072 pixels.
  EXPECT_EQ(records_of({"--max-pixels", "3071", "video.avi"}, 1).at(0)["error"]["kind"], "limit");
  EXPECT_EQ(detect({"--max-pixels", "3072", "video.avi"}).status, 0);
}

// Frames whose records are complete are skipped. A video with no other frames is not even opened.
TEST_F(Videos, ResumeContinuesWithinAVideo) {
  for (const char* name : {"a", "b"}) fs::create_directory(folder / name);
  write_video(path("a/video.avi"), 12);
  write_video(path("b/video.avi"), 9);
  write_text("broken.jpg", "broken");  // so that the journal stays
  for (const std::string format : {"jsonl", "csv"}) {
    const Arguments arguments{"--raw", "--format", format, "a", "b", "broken.jpg"};
    detect(joined(arguments, {"-o", "r"}));
    const std::string expected = read_text("r");
    expect_completed_wherever_torn(arguments, expected.size() / 8 + 1);
    fs::rename(folder / "a/video.avi", folder / "video.avi");
    detect(joined(arguments, {"--resume", "-o", "r"}));
    EXPECT_EQ(read_text("r"), expected) << format;
    fs::rename(folder / "video.avi", folder / "a/video.avi");
    remove({"r"});
  }
}

// The output must never combine the first frames of one video with the last frames of another.
TEST_F(Videos, AVideoThatWasReplacedIsReadFromItsBeginning) {
  const std::string video = path("video.avi");
  write_video(video, 12);
  write_text("broken.jpg", "broken");
  const Arguments arguments{"--raw", "--resume", "-o", "r", "video.avi", "broken.jpg"};
  detect(arguments);
  const std::string text = read_text("r");
  std::size_t end = 0;
  for (int frames = 0; frames < 5; ++frames) end = text.find('\n', end) + 1;
  write_text("r", text.substr(0, end));
  write_video(video, 9);
  const std::string of_both = detect({"--raw", "video.avi", "broken.jpg"}).out;
  detect(arguments);
  EXPECT_EQ(read_text("r"), of_both);
}

using namespace std::string_literals;

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

using FrameChoiceTest = ProgramTest;

TEST_F(FrameChoiceTest, EveryNthFrameHasTheRecordOfTheWholeVideo) {
  write_video(path("v.avi"), 20);
  const std::vector<Json> all = records_of({"--raw", "v.avi"});
  ASSERT_EQ(all.size(), 20u);
  for (const int every : {1, 2, 7, 19, 20, 2147483647}) {
    std::vector<Json> expected;
    for (std::size_t i = 0; i < all.size(); i += static_cast<std::size_t>(every))
      expected.push_back(all[i]);
    EXPECT_EQ(records_of({"--raw", "--every", std::to_string(every), "v.avi"}), expected) << every;
  }
}

TEST_F(FrameChoiceTest, FramesPerSecondAreThoseOfTheVideosTime) {
  write_video(path("v.avi"), 60);  // 50 per second
  const std::vector<Json> all = records_of({"v.avi"});
  for (const char* rate : {"0.5", "1", "7", "10", "12.5", "25", "49", "50", "51", "1e6"}) {
    const std::vector<Json> found = records_of({"--fps", rate, "v.avi"});
    EXPECT_EQ(found, per_second(all, std::stod(rate))) << rate;
  }
  EXPECT_EQ(records_of({"--fps", "10", "v.avi"}).size(), 12u);
  EXPECT_EQ(records_of({"--fps", "1000", "v.avi"}).size(), 60u);
}

TEST_F(FrameChoiceTest, AnimationsAreSearchedByTheTimesOfTheirFrames) {
  const std::vector<int> delays{10, 50, 10, 10, 10, 100, 2, 3, 30, 300, 10};
  write_text("a.gif", gif(delays));
  write_text("still.gif", gif({10}));
  const std::vector<Json> first = records_of({"a.gif"});
  ASSERT_EQ(first.size(), 1u);
  EXPECT_FALSE(first[0].contains("frame"));
  EXPECT_TRUE(first[0].contains("warning"));
  const std::vector<Json> all = records_of({"--every", "1", "a.gif"});
  ASSERT_EQ(all.size(), delays.size());
  double time = 0;
  for (std::size_t i = 0; i < delays.size(); time += delays[i++] / 100.0) {
    EXPECT_EQ(all[i]["frame"], i);
    EXPECT_NEAR(all[i]["time"].get<double>(), time, 1e-6) << i;
    EXPECT_FALSE(all[i].contains("warning")) << all[i];
  }
  for (const char* rate : {"0.3", "1", "3", "5", "20"})
    EXPECT_EQ(records_of({"--fps", rate, "a.gif"}), per_second(all, std::stod(rate))) << rate;
  EXPECT_EQ(records_of({"--every", "4", "a.gif"}).size(), 3u);
  EXPECT_EQ(records_of({"--fps", "5", "still.gif"}), records_of({"still.gif"}));
}

TEST_F(FrameChoiceTest, PicturesAreNotConcerned) {
  add_face("a.pgm");
  EXPECT_EQ(records_of({"--every", "5", "a.pgm"}), records_of({"a.pgm"}));
  EXPECT_EQ(records_of({"--fps", "5", "a.pgm"}), records_of({"a.pgm"}));
}

TEST_F(FrameChoiceTest, WrittenPicturesHaveTheNumbersOfTheVideo) {
  fs::create_directory(folder / "in");
  write_video(path("in/v.avi"), 12);
  write_text("in/a.gif", gif({10, 10, 10}));
  write_text("in/b.gif", gif({10}));
  detect({"--every", "5", "--annotate", "boxes", "in"});
  const std::vector<std::string> expected{"a.gif_000000.jpg", "b.gif.png", "v.avi_000000.jpg",
                                          "v.avi_000005.jpg", "v.avi_000010.jpg"};
  EXPECT_EQ(files_below("boxes"), expected);
  for (const char* shard : {"0/2", "1/2"})
    detect({"--every", "5", "--annotate", "of_shards", "--shard", shard, "in"});
  EXPECT_EQ(files_below("of_shards"), expected);
}

TEST_F(FrameChoiceTest, AVideoThatEndsEarlyHasAWarningAtItsLastChosenFrame) {
  write_video(path("whole.avi"), 100);
  const std::string bytes = read_text("whole.avi");
  write_text("cut.avi", bytes.substr(0, bytes.size() / 2));
  const std::vector<Json> all = records_of({"cut.avi"}),
                          found = records_of({"--every", "7", "cut.avi"});
  ASSERT_EQ(found.size(), (all.size() + 6) / 7);
  EXPECT_EQ(found.back()["warning"], all.back()["warning"]);
  EXPECT_FALSE(found.front().contains("warning"));
}

TEST_F(FrameChoiceTest, ResumeContinuesAfterAnyFrame) {
  for (const char* name : {"a", "b"}) fs::create_directory(folder / name);
  write_video(path("a/v.avi"), 12);
  write_video(path("b/v.avi"), 9);
  write_text("broken.jpg", "broken");  // so that the journal stays
  for (const char* choice : {"--every=4", "--fps=20"}) {
    SCOPED_TRACE(choice);
    EXPECT_EQ(detect({choice, "-o", "r", "a", "b", "broken.jpg"}).status, 1);
    EXPECT_GE(read_records("r").size(), 7u);
    expect_completed_wherever_torn({choice, "a", "b", "broken.jpg"},
                                   read_text("r").size() / 12 + 1);
    remove({"r", "r.resume"});
  }
}

TEST_F(FrameChoiceTest, ResumeWantsTheSameChoice) {
  write_video(path("v.avi"), 6);
  write_text("broken.jpg", "broken");
  const std::vector<Arguments> choices{
      {}, {"--every", "1"}, {"--every", "3"}, {"--fps", "3"}, {"--fps", "3.5"}};
  const auto run_with = [&](Arguments choice, const char* resume) {
    choice.insert(choice.end(), {resume, "-o", "r", "v.avi", "broken.jpg"});
    return detect(choice);
  };
  for (const auto& first : choices) {
    EXPECT_EQ(run_with(first, "-q").status, 1);
    const std::string expected = read_text("r");
    for (const auto& second : choices) {
      const Finished done = run_with(second, "--resume");
      EXPECT_EQ(done.status, first == second ? 1 : 2) << done.err;
      if (first != second) {
        EXPECT_TRUE(has(done.err, "was begun with --"));
      }
      EXPECT_EQ(read_text("r"), expected);
    }
  }
}

// Without a journal, options are unknown: what was searched is told by the numbers of frames.
TEST_F(FrameChoiceTest, RecordsWithoutAJournalCountByTheirNumbers) {
  write_video(path("v.avi"), 12);
  const std::string all = detect({"v.avi"}).out;
  std::size_t end = 0;
  for (int frame = 0; frame < 7; ++frame) end = all.find('\n', end) + 1;
  write_text("r", all.substr(0, end));
  detect({"--resume", "--every", "5", "-o", "r", "v.avi"});
  std::vector<Json> expected = parse_records(all.substr(0, end));
  expected.push_back(parse_records(all)[10]);
  EXPECT_EQ(read_records("r"), expected);
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
  std::span<const unsigned char> retrieve_encoded() override { return {}; }
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
