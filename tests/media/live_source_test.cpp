// The sources of the window's frames; the real window on a fake camera.
#include <filesystem>

#include <unistd.h>

#include "media/frame_source.hpp"
#include "media/source_name.hpp"
#include "support/errors.hpp"
#include "tests/app/live/window_test.hpp"
#include "tests/kit/encode.hpp"
#include "tests/kit/program.hpp"
#include "tests/kit/video.hpp"

namespace facesat::app {
namespace {

using test::has;
using test::message_of;

using SourceTest = test::ProgramTest;

std::string refusal_of(const std::string& source) {
  return message_of<InputError>([&] { open_source(source); });
}

TEST_F(SourceTest, NamesLikeUrlsAreFilesWhereThereIsSuchAFile) {
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder);
  std::filesystem::create_directory("http:");
  for (const std::string name : {"12:30.avi", "http:/x.avi", "http:/file:y.avi"}) {
    test::write_video(path(name), 5);
    const auto source = open_source(name);
    EXPECT_EQ(source->kind(), FrameSource::Kind::video) << name;
    EXPECT_EQ(source->title(), name);
    EXPECT_TRUE(source->next()) << name;
  }
  EXPECT_TRUE(open_source("http://x.avi")->next());  // the same path as http:/x.avi
  EXPECT_TRUE(open_source("file://" + path("12:30.avi"))->next());
  add_face("10:15.pgm");
  EXPECT_TRUE(open_source("10:15.pgm")->next());
  std::filesystem::current_path(before);
}

TEST_F(SourceTest, WhatTheSystemRefusesIsReportedInASentence) {
  const std::string long_name(300, 'n');
  EXPECT_EQ(refusal_of(long_name), long_name + ": File name too long");
  EXPECT_THROW(open_source(long_name + "/" + long_name + ".png"), InputError);
  EXPECT_FALSE(source_path("rtsp://" + long_name));

  namespace fs = std::filesystem;
  add_face("locked/a.pgm");
  fs::permissions(folder.parent_path(), fs::perms(0711));
  fs::permissions(folder / "locked", fs::perms::none);
  const uid_t user = geteuid();
  constexpr uid_t nobody = 65534;
  ASSERT_EQ(seteuid(user == 0 ? nobody : user), 0);  // root may read everything
  for (const char* name : {"locked/a.pgm", "locked/k.avi"})
    EXPECT_TRUE(has(refusal_of(path(name)), "Permission denied")) << name;
  ASSERT_EQ(seteuid(user), 0);
  fs::permissions(folder / "locked", fs::perms::owner_all);
}

TEST_F(SourceTest, AVideoWithoutFramesIsReported) {
  test::write_video(path("f.avi"), 20);
  const std::string bytes = read_text("f.avi");
  write_text("f.avi", bytes.substr(0, bytes.find("movi") + 4));  // all but its frames
  const auto source = open_source(path("f.avi"));
  EXPECT_TRUE(has(message_of<InputError>([&] { source->next(); }), "no frame of this video"));
}

TEST_F(SourceTest, VideosAreSeekable) {
  test::write_video(path("f.avi"), 20);
  const auto source = open_source(path("f.avi"));
  EXPECT_EQ(source->kind(), FrameSource::Kind::video);
  EXPECT_NEAR(source->length(), 0.4, 1e-9);
  EXPECT_NEAR(source->step(), 0.02, 1e-9);
  int frames = 0;
  for (; const auto frame = source->next(); ++frames)
    EXPECT_NEAR(frame->picture.pixels.row(0)[0].g, frames * 8, 3);
  EXPECT_EQ(frames, 20);
  source->seek(0.2);
  const auto tenth = source->next();
  ASSERT_TRUE(tenth);
  EXPECT_NEAR(tenth->picture.pixels.row(0)[0].g, 80, 3);
  EXPECT_NEAR(tenth->position, 0.2, 1e-9);
}

TEST_F(SourceTest, GifsOfSeveralFramesPlayAndOthersArePictures) {
  write_text("one.gif", test::gif({10}));
  write_text("two.gif", test::gif({10, 10}));
  const auto one = open_source(path("one.gif"));
  EXPECT_EQ(one->kind(), FrameSource::Kind::picture);
  EXPECT_EQ(one->next()->picture.pixels.row(0)[0].g, 255);
  const auto two = open_source(path("two.gif"));
  EXPECT_EQ(two->kind(), FrameSource::Kind::video);
  EXPECT_GT(two->step(), 0);
  for (int turn = 0; turn < 2; ++turn) {  // played twice, as a video that loops
    EXPECT_EQ(two->next()->picture.pixels.row(0)[0].g, 255);
    EXPECT_EQ(two->next()->picture.pixels.row(0)[0].g, 0);
    EXPECT_FALSE(two->next());
    two->seek(0);
  }
}

TEST_F(SourceTest, WhatIsNotASourceIsReportedInASentence) {
  write_text("text.avi", "no video");
  write_text("text.txt", "A text, which FFmpeg would decode as a video.\n");
  for (const char* name : {"text.avi", "text.txt", "missing.png"})
    EXPECT_TRUE(has(refusal_of(path(name)), name));
  EXPECT_EQ(refusal_of("/dev/video77"),
            "camera /dev/video77: there is no such device; is the camera connected?");
  EXPECT_THROW(open_source("99"), InputError);
  EXPECT_THROW(open_source("camera:99"), InputError);
}

TEST(Cameras, TheFirstOneOpensOrASentenceNamesAllThatWereTried) {
  try {
    EXPECT_EQ(open_source("")->kind(), FrameSource::Kind::camera);
  } catch (const InputError& error) {
    const std::string sentence = error.what();
    EXPECT_TRUE(has(sentence, "there is no camera"));
    EXPECT_TRUE(has(sentence, "/dev/video"));
    for (const CameraInfo& camera : cameras())
      EXPECT_TRUE(has(sentence, "video" + std::to_string(camera.number)));
  }
}

}  // namespace
}  // namespace facesat::app

namespace facesat::test {
namespace {

// Starts the window on a camera that is unplugged after a number of frames. Its raw frames are
// grey, its compressed ones red.
class CameraTest : public WindowTest {
 protected:
  Running start_camera(std::vector<std::string> arguments, int frames) const {
    cv::imwrite(path("red.jpg"), cv::Mat(720, 1280, CV_8UC3, cv::Scalar(0, 0, 255)));
    return start_live(std::move(arguments), false, [this, frames] {
      preload(FACESAT_FAKE_CAMERA);
      setenv("FACESAT_FAKE_CAMERA", path("red.jpg").c_str(), 1);
      setenv("FACESAT_FAKE_CAMERA_FRAMES", std::to_string(frames).c_str(), 1);
    });
  }
  // The first frame of a video.
  cv::Mat frame_of(const std::string& name) const {
    cv::Mat frame;
    cv::VideoCapture(path(name)).read(frame);
    return frame;
  }
};

TEST_F(CameraTest, IsFoundAndShown) {
  const Finished ended = start_camera({"--frames", "5", "--record", "f.avi"}, 1000).wait();
  EXPECT_EQ(ended.status, 0) << ended.err;
  const cv::Mat frame = frame_of("f.avi");
  EXPECT_EQ(frame.size(), cv::Size(640, 480));
  EXPECT_NEAR(frame.at<cv::Vec3b>(240, 320)[2], 130,
              10);  // raw frames, which are grey, are as fast
}

TEST_F(CameraTest, GivesCompressedFramesWhereThoseAreFaster) {
  const Finished ended =
      start_camera({"0", "--camera-size", "1280x720", "--frames", "5", "--record", "f.avi"}, 1000)
          .wait();
  EXPECT_EQ(ended.status, 0) << ended.err;
  const cv::Mat frame = frame_of("f.avi");
  EXPECT_EQ(frame.size(), cv::Size(1280, 720));
  EXPECT_GT(frame.at<cv::Vec3b>(240, 320)[2], 200);
  EXPECT_LT(frame.at<cv::Vec3b>(240, 320)[1], 50);
}

TEST_F(CameraTest, UnpluggedEndsAnUnattendedRunWithItsResults) {
  const Finished ended =
      start_camera({"0", "--frames", "100", "--times", "t.csv", "--screenshot", "s.png"}, 10)
          .wait();
  EXPECT_EQ(ended.status, 1);
  EXPECT_TRUE(has(ended.err, "no more frames arrive, after "));
  EXPECT_TRUE(has(ended.err, "of 100 frames"));
  const std::string times = read_text("t.csv");
  EXPECT_GT(std::count(times.begin(), times.end(), '\n'), 1);
  EXPECT_FALSE(cv::imread(path("s.png")).empty());
}

TEST_F(CameraTest, UnpluggedIsAMessageAndTheWindowStaysOpen) {
  const Running live = start_camera({"--times", "t.csv"}, 30);
  Desktop desktop(display.name, "facesat");
  ASSERT_TRUE(desktop.is_there());
  EXPECT_TRUE(desktop.shows({130, 130, 130}, most_of_a_picture));  // a raw frame
  EXPECT_TRUE(desktop.shows(warning, letters));                    // no more frames
  add_face("face.pgm");
  EXPECT_TRUE(desktop.drop(path("face.pgm")));  // another source can be opened
  EXPECT_TRUE(desktop.shows(box_colour, 1000));
  desktop.close();
  EXPECT_EQ(live.wait().status, 0);
  EXPECT_GE(lines_in("t.csv"), 3);                    // the header, a raw frame, the picture
  EXPECT_LE(lines_in("t.csv"), 32);                   // the header, 30 raw frames, the picture
  EXPECT_TRUE(read_text("t.csv").ends_with(",1\n"));  // the last frame has a face
}

}  // namespace
}  // namespace facesat::test
