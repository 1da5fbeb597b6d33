// `facesat detect` on streams and cameras, with a server and a camera of the tests' own.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <functional>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "media/codec.hpp"
#include "media/video_source.hpp"
#include "tests/kit/eventually.hpp"
#include "tests/kit/pictures.hpp"
#include "tests/kit/program.hpp"
#include "tests/kit/server.hpp"
#include "tests/kit/video.hpp"

namespace facesat::test {
namespace {

using namespace std::chrono_literals;

std::string jpeg_of(const Image<std::uint8_t>& grey) {
  const auto bytes = encode_picture(coloured(grey.view()).view(), ".jpg");
  return {bytes.begin(), bytes.end()};
}

class Streams : public ProgramTest {
 protected:
  // Sends frames with a face until the client goes, or that many.
  std::function<void(Server::Client&)> stream(int frames = 1 << 30,
                                              std::chrono::milliseconds pause = 10ms) const {
    return [this, frames, pause](Server::Client& client) {
      client.begin_stream();
      for (int i = 0; i < frames && client.send_frame(jpeg_); ++i)
        std::this_thread::sleep_for(pause);
    };
  }
  // Waits until there are that many lines in a file of results.
  bool has_lines(const fs::path& file, long count) const {
    return eventually([&] {
      const std::string text = read_text(file);
      return std::count(text.begin(), text.end(), '\n') >= count;
    });
  }
  // Starts a run with results in the file "r", and ends it by the signal when there are `lines`.
  std::vector<Json> run_until(long lines, Arguments arguments, int signal = SIGINT) const {
    remove({"r"});
    arguments.insert(arguments.begin(), {"detect", "-q", "-o", "r"});
    const Running running = start(arguments);
    EXPECT_TRUE(has_lines(folder / "r", lines));
    running.signal(signal);
    const Finished done = running.wait();
    EXPECT_EQ(done.status, 0) << done.err;
    EXPECT_EQ(done.err, "");
    const std::string text = read_text("r");
    EXPECT_TRUE(text.ends_with('\n'));
    return parse_records(text);
  }

  const std::string jpeg_ = jpeg_of(draw_faces({160, 120}, {{70, 60, 28}}));
};

TEST_F(Streams, AreSearchedUntilTheUserEndsTheRun) {
  const Server server(stream());
  for (const int signal : {SIGINT, SIGTERM}) {
    const std::vector<Json> records = run_until(5, {server.url()}, signal);
    ASSERT_GE(records.size(), 5u);
    int last_frame = -1;
    double last_time = -1;
    for (const Json& record : records) {
      EXPECT_EQ(record["image"], server.url());
      EXPECT_EQ(record["width"], 160);
      EXPECT_EQ(record["faces"].size(), 1u) << record;
      EXPECT_GT(record["frame"].get<int>(), last_frame);
      EXPECT_GT(record["time"].get<double>(), last_time);
      last_frame = record["frame"];
      last_time = record["time"];
    }
    EXPECT_LT(records.front()["time"].get<double>(), records.back()["time"].get<double>());
    EXPECT_FALSE(exists("r.resume"));  // the run was complete
  }
}

TEST_F(Streams, StandardOutputHasEachRecordAtOnce) {
  const Server server([&](Server::Client& client) {
    client.begin_stream();
    for (int i = 0; i < 40; ++i) client.send_frame(jpeg_);
    client.stall();
  });
  const Running running = start({"detect", "-q", "--format", "csv", server.url()});
  EXPECT_TRUE(has_lines(folder.parent_path() / "out0", 2));  // the header, and a face
  running.signal(SIGINT);
  const Finished done = running.wait();
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_TRUE(has(done.out, server.url() + "#"));
}

// A source that has stopped sending is not waited for: OpenCV would do that for half a minute.
TEST_F(Streams, ASourceThatSaysNothingCanBeEnded) {
  const Server silent([](const Server::Client&client) { client.stall(); }),
      stalled([&](Server::Client&client) {
        client.begin_stream();
        for (int i = 0; i < 40; ++i) client.send_frame(jpeg_);
        client.stall();
      });
  for (const Server* server : {&silent, &stalled}) {
    const auto begin = std::chrono::steady_clock::now();
    const Running running = start({"detect", "-q", server->url()});
    EXPECT_TRUE(eventually([&] { return !server->requests().empty(); }));
    running.signal(SIGINT);
    EXPECT_EQ(running.wait().status, 0);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 25s);
  }
}

// Frames arrive much faster than they can be searched.
TEST_F(Streams, FramesAreDroppedRatherThanLaggingBehind) {
  const std::string large = jpeg_of(draw_faces({1280, 960}, {{600, 500, 200}}));
  constexpr int many = 100;
  const Server server([&](Server::Client& client) {
    client.begin_stream();
    for (int i = 0; i < many; ++i) client.send_frame(large);
    while (client.send_frame(large)) std::this_thread::sleep_for(100ms);
  });
  const Running running = start({"detect", "-q", "--max-seconds", "1000", "--scale-factor", "1.02",
                                 "--scan", "dense", "-o", "r", server.url()});
  std::vector<Json> records;
  EXPECT_TRUE(eventually([&] {
    const std::string text = read_text("r");
    records = parse_records(text.substr(0, text.rfind('\n') + 1));
    return !records.empty() && records.back()["frame"] >= many;
  }));
  running.signal(SIGINT);
  EXPECT_EQ(running.wait().status, 0);
  EXPECT_LT(records.size(), many / 2u);
}

TEST_F(Streams, OneThatEndsHasAnErrorRecord) {
  const Server server(stream(40));
  const Finished done = detect({"-o", "r", server.url()});
  EXPECT_EQ(done.status, 1);
  std::vector<Json> records = read_records("r");
  ASSERT_GE(records.size(), 2u);
  EXPECT_EQ(records.back()["image"], server.url());
  EXPECT_EQ(records.back()["error"]["kind"], "read");
  EXPECT_TRUE(has(records.back()["error"]["message"], "no more frames"));
  records.pop_back();
  for (const Json& record : records) EXPECT_TRUE(record.contains("faces")) << record;
  // Its results are replaced by those of the next run.
  EXPECT_EQ(detect({"-o", "r", server.url()}).status, 1);
}

TEST_F(Streams, OneThatCannotBeOpenedHasAnErrorRecord) {
  const Server server([](Server::Client& client) {
    client.send("HTTP/1.0 404 Not Found\r\nContent-Length: 0\r\n\r\n");
  });
  const Finished done = detect({server.url("missing")});
  EXPECT_EQ(done.status, 1);
  ASSERT_EQ(done.records().size(), 1u);
  EXPECT_EQ(done.records()[0]["image"], server.url("missing"));
  EXPECT_EQ(done.records()[0]["error"]["message"],
            server.url("missing") + ": this stream cannot be opened; is its address right?");
}

TEST_F(Streams, PasswordsAreWrittenNowhere) {
  const Server good(stream(40)),
      bad([](Server::Client&client) { client.send("HTTP/1.0 401 Unauthorized\r\n\r\n"); });
  for (const Server* server : {&good, &bad}) {
    const std::string path = "stream.mjpg?channel=2&pwd=secret&token=secret",
                      shown = server->url("stream.mjpg?channel=2&pwd=&token=");
    const Finished done = run({"detect", "-o", "r", "--annotate", "boxes", "--progress", "on",
                               server->url(path, "anna:secret@")});
    EXPECT_EQ(done.status, 1);
    EXPECT_TRUE(has(server->requests(), "pwd=secret"));  // it needs it
    const std::string text = read_text("r");
    for (const Json& record : parse_records(text)) EXPECT_EQ(record["image"], shown);
    std::string all = done.out + done.err + text + read_text("r.resume");
    for (const std::string& file : files_below("boxes")) all += file;
    EXPECT_FALSE(has(all, "secret"));
    EXPECT_FALSE(has(all, "anna"));
  }
}

TEST_F(Streams, FramesAreChosenByNumberAndByTime) {
  const Server server(stream());
  for (const Json& record : run_until(4, {"--every", "5", server.url()}))
    EXPECT_EQ(record["frame"].get<int>() % 5, 0) << record;
  double last = -1;
  for (const Json& record : run_until(4, {"--fps", "5", server.url()})) {
    const double tick = std::floor((record["time"].get<double>() + 0.001) * 5);
    EXPECT_GT(tick, last) << record;
    last = tick;
  }
}

TEST_F(Streams, AVideoAtAUrlIsSearchedWhole) {
  write_video(path("v.avi"), 25);
  const std::string bytes = read_text("v.avi");
  const Server server([&](Server::Client& client) {
    client.send(fmt::format("HTTP/1.0 200 OK\r\nContent-Type: video/x-msvideo\r\n"
                            "Content-Length: {}\r\n\r\n",
                            bytes.size()) +
                bytes);
  });
  for (const char* every : {"1", "4"}) {
    std::vector<Json> records = records_of({"--every", every, server.url("v.avi")});
    for (Json& record : records) {
      EXPECT_EQ(record["image"], server.url("v.avi"));
      record["image"] = "v.avi";
    }
    EXPECT_EQ(records, detect({"--every", every, "v.avi"}).records());
  }
}

TEST_F(Streams, LimitsApplyToEachFrame) {
  const Server server(stream());
  const Finished done = detect({"--max-pixels", "19199", server.url()});
  EXPECT_EQ(done.status, 1);
  ASSERT_EQ(done.records().size(), 1u);
  EXPECT_EQ(done.records()[0]["error"]["kind"], "limit");

  const Running running = start({"detect", "-q", "--max-seconds", "1e-9", "-o", "r", server.url()});
  EXPECT_TRUE(has_lines(folder / "r", 3));
  running.signal(SIGINT);
  EXPECT_EQ(running.wait().status, 1);
  for (const Json& record : read_records("r"))
    EXPECT_EQ(record["error"]["kind"], "limit") << record;
}

TEST_F(Streams, WrittenPicturesAreFoundByTheNameInTheResults) {
  const Server server(stream());
  for (const Json& record : run_until(2, {"--annotate", "boxes", server.url()})) {
    const std::string name =
        fmt::format("{}_{:06}.jpg", record["image"].get<std::string>(), record["frame"].get<int>());
    EXPECT_TRUE(fs::exists(folder / "boxes" / name)) << name;
  }
}

TEST_F(Streams, EarlierResultsAreReplaced) {
  const Server server(stream());
  add_face("a.pgm");
  detect({"-o", "r", "a.pgm"});
  const Running running = start({"detect", "-q", "-o", "r", server.url()});
  EXPECT_TRUE(eventually([&] { return read_text("r").find(server.url()) != std::string::npos; }));
  running.signal(SIGINT);
  EXPECT_EQ(running.wait().status, 0);
  EXPECT_FALSE(has(read_text("r"), "a.pgm"));
}

TEST_F(Streams, CamerasAreSearched) {
  write_text("frame.jpg", jpeg_);
  for (const char* name : {"camera:0", "/dev/video0"}) {
    const Finished done = run({"detect", "-q", "-o", "r", name}, "", [this] {
      preload(FACESAT_FAKE_CAMERA);
      setenv("FACESAT_FAKE_CAMERA", (folder / "frame.jpg").c_str(), 1);
      setenv("FACESAT_FAKE_CAMERA_FRAMES", "12", 1);  // then it is unplugged
    });
    EXPECT_EQ(done.status, 1);
    const std::vector<Json> records = read_records("r");
    ASSERT_GE(records.size(), 2u) << done.err;
    for (const Json& record : records) {
      EXPECT_EQ(record["image"], name);
      EXPECT_EQ(record.contains("error"), record == records.back());
    }
    EXPECT_EQ(records.front()["width"], 640);
  }
}

// Some frames of cameras are damaged.
class DamagedFrames final : public VideoInput {
 public:
  // `good`: one in this many frames is not damaged.
  DamagedFrames(std::string jpeg, int good) : jpeg_(std::move(jpeg)), good_(good) {}
  bool grab() override { return ++grabbed_ > 0; }
  std::optional<Picture> retrieve(MakeFrame) override { return std::nullopt; }
  std::span<const unsigned char> retrieve_encoded() override {
    const std::size_t bytes = grabbed_ % good_ == 0 ? jpeg_.size() : 0;
    return {reinterpret_cast<const unsigned char*>(jpeg_.data()), bytes};
  }
  double get(Property) const override { return 0; }
  void set(Property, double) override {}

 private:
  std::string jpeg_;
  int good_, grabbed_ = 0;
};

TEST_F(Streams, DamagedFramesOfCamerasArePassedOver) {
  VideoSource camera(FrameSource::Kind::camera, "camera 0",
                     std::make_unique<DamagedFrames>(jpeg_, 20));
  camera.decode_jpegs();
  for (int i = 0; i < 3; ++i) {
    const std::optional<Frame> frame = camera.next();
    ASSERT_TRUE(frame);
    EXPECT_EQ(frame->number, 20 * i + 19);
    EXPECT_GT(frame->decode_ms, 0);
  }
}

TEST_F(Streams, ACameraWhoseFramesAreAllDamagedHasFailed) {
  VideoSource camera(FrameSource::Kind::camera, "camera 0",
                     std::make_unique<DamagedFrames>(jpeg_, 1000));
  camera.decode_jpegs();
  try {
    camera.next();
    FAIL();
  } catch (const InputError& error) {
    EXPECT_EQ(error.kind, "decode");
    EXPECT_TRUE(has(error.what(), "camera 0: this JPEG cannot be decoded")) << error.what();
  }
}

TEST_F(Streams, ACameraThatIsMissingHasAnErrorRecord) {
  EXPECT_EQ(records_of({"camera:77"}, 1).at(0)["error"]["message"],
            "camera /dev/video77: there is no such device; is the camera connected?");
}

}  // namespace
}  // namespace facesat::test
