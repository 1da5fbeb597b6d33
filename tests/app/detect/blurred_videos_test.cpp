// --blur of videos.
#include <csignal>
#include <cstdlib>

#include <opencv2/videoio.hpp>

#include "app/common/child_process.hpp"
#include "tests/kit/eventually.hpp"
#include "tests/kit/pictures.hpp"
#include "tests/kit/program.hpp"
#include "tests/kit/video.hpp"

namespace facesat::test {
namespace {

constexpr int brightness_step = 8;  // from frame to frame: see write_video()

class BlurredVideos : public ProgramTest {
 protected:
  // A video of a face that moves.
  void add_video(const std::string& name, int frames = 6, double rate = 12.5) const {
    fs::create_directories((folder / name).parent_path());
    const bool is_avi = fs::path(name).extension() == ".avi";
    cv::VideoWriter writer((folder / name).string(),
                           is_avi ? cv::VideoWriter::fourcc('M', 'J', 'P', 'G')
                                  : cv::VideoWriter::fourcc('m', 'p', '4', 'v'),
                           rate, {160, 120});
    ASSERT_TRUE(writer.isOpened());
    for (int i = 0; i < frames; ++i) {
      Image<Bgr> frame = coloured(draw_faces({160, 120}, {{60 + 2 * i, 60, 34}}).view());
      writer.write(cv::Mat(120, 160, CV_8UC3, frame.row(0),
                           3 * static_cast<std::size_t>(frame.view().pitch)));
    }
  }

  // Puts a sound into the video, `lead` seconds before its pictures.
  void add_sound(const std::string& name, double lead = 0) const {
    const std::string from = (folder / name).string(), to = (folder / ("with-" + name)).string();
    const std::string command = "ffmpeg -nostdin -loglevel error -itsoffset " +
                                std::to_string(lead) + " -i " + from +
                                " -f lavfi -i sine=d=1 -map 0:v -map 1:a -c:v copy -c:a " +
                                (name.ends_with(".avi") ? "pcm_s16le " : "aac ") + to;
    ASSERT_EQ(std::system(command.c_str()), 0);
    fs::rename(to, from);
  }

  // The output of ffprobe for these entries.
  std::string probed(const std::string& name, const std::string& entries) const {
    const std::string out = path("probed");
    const std::string command = "ffprobe -loglevel error -of csv=p=0 -show_entries " + entries +
                                " file:" + (folder / name).string() + " >" + out;
    EXPECT_EQ(std::system(command.c_str()), 0);
    std::string text = read_text(out);
    fs::remove(out);
    return text;
  }

  std::vector<cv::Mat> frames(const std::string& name) const {
    cv::VideoCapture video((folder / name).string());
    std::vector<cv::Mat> all;
    for (cv::Mat frame; video.read(frame);) all.push_back(frame.clone());
    return all;
  }

  double rate(const std::string& name) const {
    return cv::VideoCapture((folder / name).string()).get(cv::CAP_PROP_FPS);
  }

  // A run whose PATH has only the folder `programs`.
  Finished detect_with(const std::string& programs, Arguments arguments) const {
    arguments.insert(arguments.begin(), "detect");
    return run(arguments, "", [programs] {
      ::setenv("PATH", programs.c_str(), 1);
      ::setenv("LSAN_OPTIONS", "detect_leaks=0", 1);  // OpenCV leaks when FFmpeg cannot open a file
    });
  }

  void add_program(const std::string& name, const std::string& script) const {
    write_text(name, "#!/bin/sh\n" + script);
    fs::permissions(folder / name, fs::perms::owner_all);
  }
};

#define NEEDS_FFMPEG()                                               \
  if (!app::is_installed("ffmpeg") || !app::is_installed("ffprobe")) \
  GTEST_SKIP() << "skipped: ffmpeg is not installed"

TEST_F(BlurredVideos, HaveTheFramesOfTheInputWithoutItsFaces) {
  for (const std::string name : {"a.avi", "b.mp4", "c.mkv", "d.MOV", "e.m4v"}) {
    add_video(name, 6, 12.5);
    for (const std::string style : {"blur", "pixelate"}) {
      const auto records = records_of({"--blur", "out", "--blur-style", style, name});
      ASSERT_EQ(records.size(), 6u);
      for (const Json& record : records) {
        EXPECT_EQ(record["faces"].size(), 1u) << record;
        EXPECT_FALSE(record.contains("warning")) << record;
      }
      EXPECT_EQ(files_below("out"), std::vector<std::string>{name});
      const auto before = frames(name), after = frames("out/" + name);
      ASSERT_EQ(after.size(), before.size()) << name;
      EXPECT_EQ(rate("out/" + name), rate(name)) << name;
      for (std::size_t i = 0; i < after.size(); ++i) {
        ASSERT_EQ(after[i].size(), before[i].size());
        const Json face = records[i]["faces"][0];
        const cv::Rect box(face["x"], face["y"], face["width"], face["height"]);
        const double inside = cv::norm(after[i](box), before[i](box), cv::NORM_L1) / box.area(),
                     outside = cv::norm(after[i].colRange(130, 160), before[i].colRange(130, 160),
                                        cv::NORM_L1) /
                               (30 * 120);
        EXPECT_GT(inside, 10 * outside + 5) << name << ", frame " << i;
      }
      for (const Json& record : detect({"out/" + name}).records())
        EXPECT_EQ(record["faces"].size(), 0u) << name << record;
      remove({"out"});
    }
  }
}

TEST_F(BlurredVideos, OfOtherContainersAreMatroska) {
  add_video("in/a.avi");
  fs::rename(folder / "in/a.avi", folder / "in/a.webm");  // FFmpeg goes by the contents
  add_video("in/b.avi");
  fs::rename(folder / "in/b.avi", folder / "in/a.webm.mkv");
  add_face("in/sub/c.pgm");
  const Finished done = detect({"-r", "--blur", "out", "in"});
  ASSERT_EQ(done.status, 0) << done.err;
  EXPECT_EQ(files_below("out"), (Names{"a.webm-2.mkv", "a.webm.mkv", "sub/c.pgm.png"}));
  EXPECT_EQ(frames("out/a.webm.mkv").size(), 6u);
  EXPECT_EQ(frames("out/a.webm-2.mkv").size(), 6u);
}

// A second name must not look like that of a frame of the first video, and there must be one.
TEST_F(BlurredVideos, AndPicturesOfTheSameNameHaveDifferentOnes) {
  add_video("in/a.avi");
  for (const char* name : {"in/a.avi.png", "more/a.avi.png"}) {
    add_face("scratch/face.pgm");
    ASSERT_EQ(detect({"--annotate", "scratch", "scratch/face.pgm"}).status, 0);
    write_text(name, read_text("scratch/scratch/face.pgm.png"));
  }
  ASSERT_EQ(detect({"--blur", "out", "in", "more"}).status, 0);
  EXPECT_EQ(files_below("out"), (Names{"a.avi", "a.avi-2.png", "a.avi.png"}));
}

// It is not known where their faces are.
TEST_F(BlurredVideos, FramesThatWereNotSearchedAreBlack) {
  add_video("a.avi");
  for (const Json& record : records_of({"--max-seconds", "1e-9", "--blur", "out", "a.avi"}, 1))
    EXPECT_EQ(record["error"]["kind"], "limit");
  const auto after = frames("out/a.avi");
  ASSERT_EQ(after.size(), 6u);
  for (const cv::Mat& frame : after) EXPECT_LT(cv::norm(frame, cv::NORM_INF), 5);
}

TEST_F(BlurredVideos, OfManyThreadsAreInOrder) {
  write_video(path("a.avi"), 30);
  ASSERT_EQ(detect({"-j", "8", "--blur", "out", "a.avi"}).status, 0);
  const auto after = frames("out/a.avi");
  ASSERT_EQ(after.size(), 30u);
  for (int i = 0; i < 30; ++i)
    EXPECT_NEAR(cv::mean(after[static_cast<std::size_t>(i)])[0], brightness_step * i, 3) << i;
}

TEST_F(BlurredVideos, HaveTheSoundOfTheInput) {
  NEEDS_FFMPEG();
  for (const std::string name : {"a.avi", "b.mp4", "c.mkv", "d.m4v", "e.MOV"}) {
    add_video(name);
    add_sound(name);
    const Finished done = detect({"--blur", "out", name});
    ASSERT_EQ(done.status, 0) << done.err;
    EXPECT_EQ(done.err, "");
    for (const Json& record : done.records()) EXPECT_FALSE(record.contains("warning")) << record;
    const std::string entries =
        "stream=codec_type:packet=data_hash -select_streams a -show_data_hash md5";
    EXPECT_EQ(probed("out/" + name, entries), probed(name, entries)) << name;
    EXPECT_EQ(frames("out/" + name).size(), 6u) << name;
    EXPECT_EQ(rate("out/" + name), rate(name)) << name;
  }
  EXPECT_EQ(files_below("out"), (Names{"a.avi", "b.mp4", "c.mkv", "d.m4v", "e.MOV"}));
}

// OpenCV counts from the first frame, whenever that is shown.
TEST_F(BlurredVideos, KeepTheDistanceOfPicturesAndSound) {
  NEEDS_FFMPEG();
  for (const std::string name : {"a.mp4", "b.mkv"}) {
    add_video(name);
    add_sound(name, 0.48);
    ASSERT_EQ(detect({"--blur", "out", name}).status, 0);
    const std::string entries = "stream=start_time -select_streams v";
    EXPECT_NEAR(std::stod(probed(name, entries)), 0.48, 0.03) << name;
    EXPECT_NEAR(std::stod(probed("out/" + name, entries)), std::stod(probed(name, entries)), 0.03)
        << name;
  }
}

TEST_F(BlurredVideos, AreWrittenWithoutFfmpeg) {
  for (const char* name : {"a.avi", "b.avi"}) add_video(name);
  const Finished done = detect_with("/nonexistent", {"-q", "--blur", "out", "a.avi", "b.avi"});
  EXPECT_EQ(done.status, 0);
  EXPECT_EQ(done.err,
            "facesat: videos with blurred faces are without their sound: ffmpeg is not "
            "installed\n");
  EXPECT_EQ(frames("out/a.avi").size(), 6u);
  EXPECT_EQ(frames("out/b.avi").size(), 6u);
}

TEST_F(BlurredVideos, AreWrittenIfFfmpegFails) {
  add_video("a.avi");
  const auto warning = [&] {
    const Finished done =
        detect_with(path("bin") + ":/bin:/usr/bin", {"-q", "--blur", "out", "a.avi"});
    EXPECT_EQ(done.status, 0) << done.err;
    EXPECT_EQ(frames("out/a.avi").size(), 6u);
    EXPECT_EQ(files_below("out"), Names{"a.avi"});
    const auto records = done.records();
    EXPECT_FALSE(records.front().contains("warning"));
    return records.back().value("warning", "");
  };
  const std::string begin = "the video with blurred faces has no sound: ";
  add_program("bin/ffprobe", "exit 3");
  add_program("bin/ffmpeg", "exit 3");
  EXPECT_EQ(warning(), begin + "ffprobe cannot read the input");
  add_program("bin/ffprobe", "echo video,0.0; echo 0.0");
  EXPECT_EQ(warning(), "") << "no sound, so ffmpeg is not needed";
  add_program("bin/ffprobe", "echo video,0.0; echo audio,N/A; echo 0.0");
  EXPECT_EQ(warning(), begin + "ffmpeg failed");
  add_program(
      "bin/ffmpeg",
      "echo some >&2; echo reason >&2; for last; do :; done; echo x > \"${last#file:}\"; exit 1");
  EXPECT_EQ(warning(), begin + "reason");
  add_program("bin/ffmpeg", "for last; do :; done; echo x > \"${last#file:}\"");
  EXPECT_EQ(warning(), begin + "the video was not written to its end; is the disk full?");
}

TEST_F(BlurredVideos, NeverReplaceInputsAndForeignVideos) {
  add_video("a.avi");
  add_video("in/a.avi", 5);
  const std::string before = read_text("a.avi");
  Finished done = detect({"--blur", ".", "a.avi"});
  EXPECT_TRUE(ended(done, 2, "the video with blurred faces would overwrite the input a.avi"));
  done = detect({"--blur", ".", "in/a.avi", "-"}, "a.avi\n");
  EXPECT_EQ(done.status, 2) << "named like that, it would be ./in/a.avi, which is the input";
  done = detect({"--blur", ".", "in"});
  EXPECT_EQ(done.status, 1);
  ASSERT_EQ(done.records().size(), 5u);
  for (const Json& record : done.records()) EXPECT_EQ(record["faces"].size(), 1u);
  EXPECT_EQ(done.records().back()["error"]["kind"], "write");
  EXPECT_TRUE(has(done.records().back()["error"]["message"],
                  "a.avi: a file that facesat did not write is not replaced"));
  EXPECT_EQ(read_text("a.avi"), before);
  // Its own are replaced, unless something has changed them.
  for (const std::string name : {"a.avi", "b.mp4", "c.mkv"}) {
    add_video(name);
    for (int i = 0; i < 2; ++i) EXPECT_EQ(detect({"--blur", "out", name}).status, 0);
    write_text(folder / "out" / name, read_text(folder / "out" / name) + "x");
    EXPECT_EQ(detect({"--blur", "out", name}).status, 1);
  }
  EXPECT_EQ(files_below("out").size(), 3u) << "nothing is left behind";
  // With --resume, only those of the same input.
  EXPECT_EQ(detect({"--blur", "new", "in"}).status, 0);
  EXPECT_EQ(detect({"--blur", "new", "--resume", "-o", "r", "a.avi"}).status, 1);
  EXPECT_EQ(frames("new/a.avi").size(), 5u);
}

TEST_F(BlurredVideos, AreNotInputsOfTheNextRun) {
  for (const char* name : {"in/a.avi", "in/b.mp4", "in/c.mkv"}) add_video(name);
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(detect({"-r", "--blur", "in/blurred", "in"}).records().size(), 18u);
}

// The video gets its name before its last record is written.
TEST_F(BlurredVideos, OfRunsThatEndEarlyAreCompletedByResume) {
  add_video("a.avi", 40);
  ASSERT_EQ(detect({"--blur", "whole", "a.avi"}).status, 0);
  const std::string expected = detect({"a.avi"}).out;
  for (const int signal : {SIGKILL, SIGTERM}) {
    const Running running = start({"detect", "-q", "-j", "1", "--blur", "out", "-o", "r", "a.avi"});
    wait_for("r");
    running.signal(signal);
    running.wait();
    const bool was_complete = read_text("r") == expected;
    EXPECT_EQ(exists("out/a.avi"), was_complete);
    if (signal == SIGTERM && !was_complete) {
      EXPECT_TRUE(fs::is_empty(folder / "out"));
    }
    const Finished done = detect({"--resume", "--blur", "out", "-o", "r", "a.avi"});
    EXPECT_EQ(done.status, 0) << done.err;
    EXPECT_EQ(read_text("r"), expected);
    EXPECT_EQ(read_text("out/a.avi"), read_text("whole/a.avi"));
    EXPECT_EQ(files_below("out"), Names{"a.avi"}) << "nothing is left behind";
    remove({"r", "r.resume"});
    remove({"out"});
  }
}

// However many records an earlier run has written.
TEST_F(BlurredVideos, BeginAgainWithResume) {
  add_video("a.avi");
  write_text("broken.jpg", "broken");
  const Arguments arguments{"--resume", "--blur", "out", "-o", "r", "a.avi", "broken.jpg"};
  EXPECT_EQ(detect(arguments).status, 1);
  const std::string expected = read_text("r"), video = read_text("out/a.avi");
  std::size_t end = 0;
  for (int records = 1; records < 6; ++records) {
    end = expected.find('\n', end) + 1;
    write_text("r", expected.substr(0, end));
    remove({"out/a.avi"});
    EXPECT_EQ(detect(arguments).status, 1);
    EXPECT_EQ(read_text("r"), expected) << records;
    EXPECT_TRUE(read_text("out/a.avi") == video) << records;
  }
}

}  // namespace
}  // namespace facesat::test
