// The real window in runs of a number of frames, and in runs without any.
#include <csignal>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "app/live/detection/history.hpp"
#include "media/codec.hpp"
#include "tests/app/live/window_test.hpp"
#include "tests/kit/video.hpp"

namespace facesat::test {
namespace {

using WindowLimitTest = WindowTest;

TEST_F(WindowLimitTest, RecordingAndTableHaveExactlyTheFramesAskedFor) {
  write_video(path("f.avi"), 30);
  for (const int frames : {1, 2, 7, 33}) {
    const std::string video = std::to_string(frames) + ".avi";
    const Finished done = start_live({"f.avi", "--frames", std::to_string(frames), "--record",
                                      video, "--times", "t.csv"})
                              .wait();
    EXPECT_EQ(done.status, 0) << done.err;
    EXPECT_EQ(frames_in(video), frames);
    EXPECT_EQ(lines_in("t.csv"), frames + 1);
  }
}

TEST_F(WindowLimitTest, WhatCannotBeReadIsNamedAndPassedOver) {
  write_text(folder / "p/a.pgm", "broken");
  write_text(folder / "p/b.avi", "broken");
  add_face("p/c.pgm");
  const Finished some = start_live({"p", "--frames", "3", "--times", "t.csv"}).wait();
  EXPECT_EQ(some.status, 1);
  EXPECT_NE(some.err.find("a.pgm: "), std::string::npos) << some.err;
  EXPECT_NE(some.err.find("b.avi: "), std::string::npos) << some.err;
  EXPECT_EQ(some.err.find("c.pgm"), std::string::npos) << some.err;
  EXPECT_TRUE(read_text(folder / "t.csv").ends_with(",1\n"));  // a face
  const std::string times = read_text(folder / "t.csv");
  write_text(folder / "p/c.pgm", "broken");
  const Finished none = start_live({"p", "--frames", "3", "--times", "t.csv"}).wait();
  EXPECT_EQ(none.status, 2);
  for (const char* name : {"a.pgm: ", "b.avi: ", "c.pgm: ", "nothing was written to t.csv"})
    EXPECT_NE(none.err.find(name), std::string::npos) << none.err;
  EXPECT_EQ(read_text(folder / "t.csv"), times);
}

// A server on this machine that never answers.
class SilentServer {
 public:
  SilentServer() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::bind(socket_, any, size), 0);
    EXPECT_EQ(::listen(socket_, 5), 0);
    EXPECT_EQ(::getsockname(socket_, any, &size), 0);
    url = "rtsp://127.0.0.1:" + std::to_string(ntohs(address.sin_port)) + "/stream";
  }
  ~SilentServer() { ::close(socket_); }
  SilentServer(const SilentServer&) = delete;
  SilentServer& operator=(const SilentServer&) = delete;

  std::string url;

 private:
  int socket_;
};

TEST_F(WindowLimitTest, WithoutAFrameEarlierResultsStay) {
  const SilentServer server;
  write_text(folder / "t.csv", app::times_csv({app::Sample()}));
  write_picture(path("s.png"), Image<Bgr>({8, 8}).view());
  const std::string times = read_text(folder / "t.csv"), shot = read_text(folder / "s.png");
  const auto end = [&](auto how) {
    const Running live = start_live({server.url, "--times", "t.csv", "--screenshot", "s.png"});
    Desktop desktop(display.name, "facesat");
    EXPECT_TRUE(desktop.is_there());
    how(live, desktop);
    const Finished done = live.wait();
    EXPECT_NE(done.err.find("no frame was shown, so nothing was written to s.png, t.csv"),
              std::string::npos)
        << done.err;
    EXPECT_EQ(read_text(folder / "t.csv"), times);
    EXPECT_TRUE(read_text(folder / "s.png") == shot);
    return done.status;
  };
  EXPECT_EQ(end([](const Running&, Desktop& desktop) { desktop.close(); }), 2);
  EXPECT_EQ(end([](const Running& live, Desktop&) { live.signal(SIGINT); }), 128 + SIGINT);
}

// A start page that was just looked at is no failure.
TEST_F(WindowLimitTest, WithoutAFrameAndOutputsAllIsWell) {
  const SilentServer server;
  const Running live = start_live({server.url});
  Desktop desktop(display.name, "facesat");
  ASSERT_TRUE(desktop.is_there());
  desktop.close();
  const Finished done = live.wait();
  EXPECT_EQ(done.status, 0);
  EXPECT_EQ(done.err, "");
}

}  // namespace
}  // namespace facesat::test
