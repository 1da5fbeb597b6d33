// The real window on a fake camera.
#include "tests/app/live/window_test.hpp"

namespace facesat::test {
namespace {

// Starts the window on a camera that is unplugged after a number of frames. Its raw frames are
// grey, its compressed ones red.
class CameraTest : public WindowTest {
 protected:
  Running start_camera(std::vector<std::string> arguments, int frames) const {
    cv::imwrite(path("red.jpg"), cv::Mat(720, 1280, CV_8UC3, cv::Scalar(0, 0, 255)));
    return start_live(std::move(arguments), false, [this, frames] {
      setenv("LD_PRELOAD", FACESAT_FAKE_CAMERA, 1);
      setenv("FACESAT_FAKE_CAMERA", path("red.jpg").c_str(), 1);
      setenv("FACESAT_FAKE_CAMERA_FRAMES", std::to_string(frames).c_str(), 1);
      setenv("ASAN_OPTIONS", "detect_leaks=0:verify_asan_link_order=0", 1);
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
  EXPECT_NE(ended.err.find("no more frames arrive, after "), std::string::npos) << ended.err;
  EXPECT_NE(ended.err.find("of 100 frames"), std::string::npos) << ended.err;
  const std::string times = read_text(folder / "t.csv");
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
  EXPECT_GE(lines_in("t.csv"), 3);   // the header, a raw frame, the picture
  EXPECT_LE(lines_in("t.csv"), 32);  // the header, 30 raw frames, the picture
  EXPECT_TRUE(read_text(folder / "t.csv").ends_with(",1\n"));  // the last frame has a face
}

}  // namespace
}  // namespace facesat::test
