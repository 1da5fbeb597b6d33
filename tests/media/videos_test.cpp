// Videos frame by frame: their times, their ends, their names.
#include <opencv2/imgcodecs.hpp>
#include <opencv2/videoio.hpp>

#include "media/matroska.hpp"
#include "tests/kit/program.hpp"
#include "tests/kit/video.hpp"

namespace facesat::test {
namespace {

namespace fs = std::filesystem;
using Videos = ProgramTest;

// Decoders delay frames where frames are stored in another order than shown (B-frames).
TEST_F(Videos, TheLastFramesHaveTimesToo) {
  const std::string file = (folder / "h264.mp4").string();
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
  write_video((folder / "whole.avi").string(), 100);
  const std::string bytes = read_text(folder / "whole.avi");
  write_text(folder / "cut.avi", bytes.substr(0, bytes.size() / 2));
  for (const auto& record : detect({"whole.avi"}).records())
    EXPECT_FALSE(record.contains("warning")) << record;
  const Finished done = run({"detect", "--format", "csv", "cut.avi"});
  EXPECT_NE(done.err.find("cut.avi: the video ends early"), std::string::npos) << done.err;
  const auto records = detect({"cut.avi"}).records();
  ASSERT_GT(records.size(), 5u);
  ASSERT_LT(records.size(), 90u);
  for (std::size_t i = 0; i < records.size(); ++i)
    EXPECT_EQ(records[i].contains("warning"), i + 1 == records.size()) << records[i];
  EXPECT_NE(records.back()["warning"].get<std::string>().find("of its 2.00 seconds"),
            std::string::npos)
      << records.back();
}

// A Matroska file states its size, so that even a few missing bytes are detected.
TEST_F(Videos, MatroskaThatIsCutOffHasAWarning) {
  write_video((folder / "whole.mkv").string(), 20);
  const std::string bytes = read_text(folder / "whole.mkv");
  write_text(folder / "cut.mkv", bytes.substr(0, bytes.size() - 40));
  write_text(folder / "half.mkv", bytes.substr(0, bytes.size() / 2));
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
  for (const char* name : {"raw.mjpeg", "raw.MJPG", "raw.jpg"}) write_text(folder / name, bytes);
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
    cv::VideoWriter writer((folder / "video.mp4").string(),
                           cv::VideoWriter::fourcc('m', 'p', '4', 'v'), 25, {64, 48});
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
  write_video((folder / "video.avi").string(), 3);
  // Its frames have 64 x 48 = 3072 pixels.
  const Finished done = detect({"--max-pixels", "3071", "video.avi"});
  EXPECT_EQ(done.status, 1);
  EXPECT_EQ(done.records().at(0)["error"]["kind"], "limit");
  EXPECT_EQ(detect({"--max-pixels", "3072", "video.avi"}).status, 0);
}

// Frames whose records are complete are skipped. A video with no other frames is not even opened.
TEST_F(Videos, ResumeContinuesWithinAVideo) {
  for (const char* name : {"a", "b"}) fs::create_directory(folder / name);
  write_video((folder / "a/video.avi").string(), 12);
  write_video((folder / "b/video.avi").string(), 9);
  write_text(folder / "broken.jpg", "broken");  // so that the journal stays
  for (const std::string format : {"jsonl", "csv"}) {
    const auto arguments = [&](std::vector<std::string> more) {
      more.insert(more.end(), {"--raw", "--format", format, "-o", "r", "a", "b", "broken.jpg"});
      return more;
    };
    detect(arguments({}));
    const std::string expected = read_text(folder / "r"), journal = read_text(folder / "r.resume");
    for (std::size_t keep = 1; keep < expected.size(); keep += expected.size() / 8 + 1) {
      write_text(folder / "r", expected.substr(0, keep));
      write_text(folder / "r.resume", journal);
      detect(arguments({"--resume"}));
      EXPECT_EQ(read_text(folder / "r"), expected) << format << " after " << keep;
      EXPECT_EQ(read_text(folder / "r.resume"), journal) << format << " after " << keep;
    }
    fs::rename(folder / "a/video.avi", folder / "video.avi");
    detect(arguments({"--resume"}));
    EXPECT_EQ(read_text(folder / "r"), expected) << format;
    fs::rename(folder / "video.avi", folder / "a/video.avi");
    fs::remove(folder / "r");
  }
}

// The output must never combine the first frames of one video with the last frames of another.
TEST_F(Videos, AVideoThatWasReplacedIsReadFromItsBeginning) {
  const std::string video = (folder / "video.avi").string();
  write_video(video, 12);
  write_text(folder / "broken.jpg", "broken");
  const std::vector<std::string> arguments{"--raw", "--resume",  "-o",
                                           "r",     "video.avi", "broken.jpg"};
  detect(arguments);
  const std::string text = read_text(folder / "r");
  std::size_t end = 0;
  for (int frames = 0; frames < 5; ++frames) end = text.find('\n', end) + 1;
  write_text(folder / "r", text.substr(0, end));
  write_video(video, 9);
  const std::string of_both = detect({"--raw", "video.avi", "broken.jpg"}).out;
  detect(arguments);
  EXPECT_EQ(read_text(folder / "r"), of_both);
}

}  // namespace
}  // namespace facesat::test
