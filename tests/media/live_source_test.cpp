// The sources of the window's frames.
#include <filesystem>

#include <unistd.h>

#include "media/frame_source.hpp"
#include "media/source_name.hpp"
#include "support/errors.hpp"
#include "tests/kit/program.hpp"
#include "tests/kit/video.hpp"

namespace facesat::app {
namespace {

using facesat::test::read_text;
using facesat::test::write_text;

using SourceTest = test::ProgramTest;

TEST_F(SourceTest, APictureIsOneFrame) {
  add_face("a.pgm");
  const auto source = open_source(path("a.pgm"));
  EXPECT_EQ(source->kind(), FrameSource::Kind::picture);
  EXPECT_EQ(source->next()->name, "a.pgm");
  EXPECT_FALSE(source->next());
  source->seek(0);
  EXPECT_TRUE(source->next());
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
  for (const char* stream : {"rtsp://host/x.avi", "a+b.c-d9://x"})
    EXPECT_FALSE(source_path(stream)) << stream;
  for (const char* file : {"x.avi", "9a://x", "a b://x", "://x", "dir/a://x", "file:///x"})
    EXPECT_TRUE(source_path(file)) << file;
  for (const char* camera : {"", "0", "/dev/video3"}) EXPECT_FALSE(source_path(camera)) << camera;
}

TEST_F(SourceTest, WhatTheSystemRefusesIsReportedInASentence) {
  const std::string long_name(300, 'n');
  try {
    open_source(long_name);
    ADD_FAILURE();
  } catch (const InputError& error) {
    EXPECT_EQ(error.what(), long_name + ": File name too long");
  }
  EXPECT_THROW(open_source(long_name + "/" + long_name + ".png"), InputError);
  EXPECT_FALSE(source_path("rtsp://" + long_name));

  namespace fs = std::filesystem;
  add_face("locked/a.pgm");
  fs::permissions(folder.parent_path(), fs::perms(0711));
  fs::permissions(folder / "locked", fs::perms::none);
  const uid_t user = geteuid();
  constexpr uid_t nobody = 65534;
  ASSERT_EQ(seteuid(user == 0 ? nobody : user), 0);  // root may read everything
  for (const char* name : {"locked/a.pgm", "locked/k.avi"}) {
    try {
      open_source(path(name));
      ADD_FAILURE() << name;
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find("Permission denied"), std::string::npos)
          << error.what();
    }
  }
  ASSERT_EQ(seteuid(user), 0);
  fs::permissions(folder / "locked", fs::perms::owner_all);
}

TEST_F(SourceTest, AVideoWithoutFramesIsReported) {
  test::write_video(path("f.avi"), 20);
  const std::string bytes = read_text(folder / "f.avi");
  write_text(folder / "f.avi", bytes.substr(0, bytes.find("movi") + 4));  // all but its frames
  const auto source = open_source(path("f.avi"));
  try {
    source->next();
    ADD_FAILURE();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("no frame of this video"), std::string::npos);
  }
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
  using namespace std::string_literals;
  const std::string header = "GIF89a\1\0\1\0\x80\0\0\0\0\0\xFF\xFF\xFF"s,  // black and white
      control = "\x21\xF9\4\0\x0A\0\0\0"s, image = "\x2C\0\0\0\0\1\0\1\0\0\2\2"s,
                    black = "\x44\1\0"s, white = "\x4C\1\0"s, end = "\x3B"s;
  write_text(folder / "one.gif", header + control + image + white + end);
  write_text(folder / "two.gif", header + control + image + white + control + image + black + end);
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
  write_text(folder / "text.avi", "no video");
  write_text(folder / "text.txt", "A text, which FFmpeg would decode as a video.\n");
  for (const char* name : {"text.avi", "text.txt", "missing.png"}) {
    try {
      open_source(path(name));
      ADD_FAILURE() << name;
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find(name), std::string::npos) << error.what();
    }
  }
  try {
    open_source("/dev/video77");
    ADD_FAILURE();
  } catch (const InputError& error) {
    EXPECT_EQ(std::string(error.what()),
              "camera /dev/video77: there is no such device; is the camera connected?");
  }
  EXPECT_THROW(open_source("99"), InputError);
  EXPECT_THROW(open_source("camera:99"), InputError);
}

TEST(Cameras, TheFirstOneOpensOrASentenceNamesAllThatWereTried) {
  try {
    EXPECT_EQ(open_source("")->kind(), FrameSource::Kind::camera);
  } catch (const InputError& error) {
    const std::string sentence = error.what();
    EXPECT_NE(sentence.find("there is no camera"), std::string::npos) << sentence;
    EXPECT_NE(sentence.find("/dev/video"), std::string::npos) << sentence;
    for (const CameraInfo& camera : cameras())
      EXPECT_NE(sentence.find("video" + std::to_string(camera.number)), std::string::npos);
  }
}

}  // namespace
}  // namespace facesat::app
