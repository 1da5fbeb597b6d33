// Names of cameras and streams, and what is said about them; names as they are printed.
#include "media/source_name.hpp"

#include "media/frame_source.hpp"
#include "support/errors.hpp"
#include "support/text.hpp"
#include "tests/kit/program.hpp"

namespace facesat::test {
namespace {

TEST(SourceNames, TellCamerasAndStreamsFromFiles) {
  for (const char* live : {"camera:0", "camera:12", "camera:", "/dev/video0", "rtsp://host/x.avi",
                           "http://127.0.0.1:80/a?b", "a+b.c-d9://x"})
    EXPECT_TRUE(is_live_name(live)) << live;
  for (const char* file :
       {"", "0", "12", "12345", "-", "@list", "camera", "camera:x", "camera:12345", "./camera:0",
        "x.avi", "9a://x", "a b://x", "://x", "dir/a://x", "file:///x", "/dev/vide", "12:30.mp4"})
    EXPECT_FALSE(is_live_name(file)) << file;
  for (const char* camera : {"", "0"}) EXPECT_FALSE(source_path(camera)) << camera;
  EXPECT_EQ(camera_name("camera:3"), "3");
  EXPECT_EQ(camera_name("3"), "3");
  EXPECT_EQ(camera_name("camera:"), "");
  EXPECT_EQ(camera_name("x"), std::nullopt);
}

TEST(SourceNames, LoseWhatItTakesToLogIn) {
  const std::pair<const char*, const char*> cases[] = {
      {"rtsp://cam/1", "rtsp://cam/1"},
      {"rtsp://anna@cam/1", "rtsp://cam/1"},
      {"rtsp://anna:pw@cam:554/1?channel=1&subtype=0", "rtsp://cam:554/1?channel=1&subtype=0"},
      {"rtsp://anna:p@w@cam/1", "rtsp://cam/1"},
      {"rtsp://anna:p/w@cam/1", "rtsp://cam/1"},
      {"rtsp://anna:p?w=1@cam/1", "rtsp://cam/1"},
      {"rtsp://anna:p#w@cam/1", "rtsp://cam/1"},
      {"rtsp://anna:p%40w@[::1]:554/1", "rtsp://[::1]:554/1"},
      {"http://cam:8080/live/@anna", "http://cam:8080/live/@anna"},
      {"http://[::1]/live/@anna", "http://[::1]/live/@anna"},
      {"http://cam/a@2x.mjpg?mail=a@b", "http://cam/a@2x.mjpg?mail=a@b"},
      {"http://cam/v?user=anna&pwd=x/y=&n=2", "http://cam/v?user=&pwd=&n=2"},
      {"http://cam/v?n=2&Password=x#end", "http://cam/v?n=2&Password=#end"},
      {"http://cam/v?X-Amz-Signature=12ab;api_key=3", "http://cam/v?X-Amz-Signature=;api_key="},
      {"rtsp://cam/user=anna&password=x&channel=1&stream=0.sdp?",
       "rtsp://cam/user=&password=&channel=1&stream=0.sdp?"},
      {"rtsp://", "rtsp://"},
      {"rtsp://@", "rtsp://"},
      {"rtsp://?", "rtsp://?"},
      {"a:b@c.jpg", "a:b@c.jpg"},
      {"/home/user=x/a.jpg", "/home/user=x/a.jpg"},
  };
  for (const auto& [name, expected] : cases) EXPECT_EQ(without_credentials(name), expected) << name;
}

TEST(Printable, TextStaysAsItIs) {
  for (const char* text : {"", "a b.jpg", "ünï-中文-😀.pgm", "\"quoted\\\""})
    EXPECT_EQ(printable(text), text);
}

TEST(Printable, ControlCharactersAreSpelledOut) {
  EXPECT_EQ(printable("\x1b[31mred\x1b[0m"), "\\x1b[31mred\\x1b[0m");
  EXPECT_EQ(printable("two\nlines\r\t\x7f"), "two\\x0alines\\x0d\\x09\\x7f");
  EXPECT_EQ(printable("\xC2\x9B"
                      "31m"),
            "\\xc2\\x9b31m");  // CSI as one character
  EXPECT_EQ(printable("\xE2\x80\xAE"
                      "gpj"),
            "\\xe2\\x80\\xaegpj");  // right-to-left override
}

TEST(Printable, BytesThatAreNotUtf8AreSpelledOut) {
  EXPECT_EQ(printable("latin\xE9.jpg"), "latin\\xe9.jpg");
  EXPECT_EQ(printable("\x9B"
                      "31m"),
            "\\x9b31m");
  EXPECT_EQ(printable("\xC0\x9B"), "\\xc0\\x9b");                    // overlong
  EXPECT_EQ(printable("\xED\xA0\x80"), "\\xed\\xa0\\x80");           // a surrogate
  EXPECT_EQ(printable("\xF4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");  // past the end of Unicode
  EXPECT_EQ(printable("end\xE4\xB8"), "end\\xe4\\xb8");              // cut off
}

using LiveUsage = ProgramTest;

TEST_F(LiveUsage, WhatNeedsFilesIsRefused) {
  add_face("a.pgm");
  const std::string url = "rtsp://anna:secret@127.0.0.1:9/x";
  const std::pair<std::vector<std::string>, const char*> mistakes[] = {
      {{url, "a.pgm"}, "must be the only input"},
      {{"a.pgm", "camera:0"}, "camera:0: a camera or stream has no end"},
      {{url, "camera:0"}, "must be the only input"},
      {{"--resume", "-o", "r", url}, "--resume is for files"},
      {{"--shard", "0/2", url}, "--shard is for files"}};
  for (const auto& [arguments, said] : mistakes) {
    const Finished done = detect(arguments);
    EXPECT_TRUE(ended(done, 2, said));
    EXPECT_FALSE(has(done.err, "secret"));
    EXPECT_EQ(done.out, "");
  }
  // A number is the name of a file.
  add_face("0");
  EXPECT_EQ(detect({"0"}).records().at(0)["faces"].size(), 1u);
  // So is a name like a URL where there is such a file.
  add_face("http:/a.pgm");
  EXPECT_EQ(detect({"http://a.pgm"}).records().at(0)["faces"].size(), 1u);
}

TEST_F(LiveUsage, BuildsWithoutOpenCvSaySo) {
  if (FACESAT_READS_VIDEOS) GTEST_SKIP() << "skipped: this build reads streams";
  for (const char* name : {"rtsp://anna:secret@127.0.0.1:9/x", "camera:0", "/dev/video0"}) {
    const Finished done = detect({name});
    EXPECT_EQ(done.status, 1);
    ASSERT_EQ(done.records().size(), 1u);
    EXPECT_EQ(done.records()[0]["error"]["message"],
              "this build reads no cameras and no streams (it was made without OpenCV)");
    EXPECT_FALSE(has(done.out + done.err, "secret"));
  }
}

// Every build opens sources by the same list; without OpenCV, it has those alone that need no more.
TEST_F(LiveUsage, PicturesAreASourceInEveryBuild) {
  add_face("a.pgm");
  const auto source = open_source(path("a.pgm"));
  EXPECT_EQ(source->kind(), FrameSource::Kind::picture);
  EXPECT_EQ(source->next()->name, "a.pgm");
  EXPECT_FALSE(source->next());
  source->seek(0);
  EXPECT_TRUE(source->next());
  EXPECT_THROW(open_source(path("none.pgm")), InputError);
  write_text("a.avi", "no video");
  EXPECT_EQ(message_of<InputError>([&] { open_source(path("a.avi")); }),
            FACESAT_READS_VIDEOS ? path("a.avi") + ": this is a text, neither a video nor a picture"
                                 : "this build reads no videos (it was made without OpenCV)");
}

}  // namespace
}  // namespace facesat::test
