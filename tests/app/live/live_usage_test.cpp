// The files of `facesat live`, and its messages before there is a window.
#include <filesystem>
#include <set>

#include "app/live/detection/history.hpp"
#include "app/live/outputs.hpp"
#include "cascades/cascade_store.hpp"
#include "media/codec.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"
#include "tests/kit/program.hpp"
#include "tests/kit/video.hpp"

namespace facesat::app {
namespace {

using facesat::test::read_text;
using facesat::test::write_text;

using SameFile = test::ProgramTest;

TEST_F(SameFile, IsRecognisedByAnyName) {
  namespace fs = std::filesystem;
  write_text(folder / "a", "");
  write_text(folder / "b", "");
  fs::create_symlink("a", folder / "link");
  fs::create_hard_link(folder / "a", folder / "hard");
  fs::create_symlink("new", folder / "to_new");
  fs::create_directory(folder / "f");
  EXPECT_TRUE(same_file(path("a"), path("f/.././a")));
  EXPECT_TRUE(same_file(path("a"), path("link")));
  EXPECT_TRUE(same_file(path("hard"), path("link")));
  EXPECT_FALSE(same_file(path("a"), path("b")));
  EXPECT_FALSE(same_file(path("a"), path("new")));
  EXPECT_TRUE(same_file(path("new"), path("f/../new")));  // a file that does not exist yet
  EXPECT_TRUE(same_file(path("new"), path("to_new")));
  EXPECT_FALSE(same_file(path("new"), path("newer")));
  EXPECT_FALSE(same_file(path("new"), path(std::string(300, 'x'))));
}

// The messages of `facesat live` before there is a window.
class LiveUsage : public test::ProgramTest {
 protected:
  // Runs `facesat live` without a display. The message "there is no display" means that everything
  // checked before was accepted.
  test::Finished live(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"live", "--backend", "cpu"});
    return run(arguments, "", [] {
      unsetenv("DISPLAY");
      unsetenv("WAYLAND_DISPLAY");
    });
  }
  // Each of these command lines is a mistake, and something like this is said about it.
  struct Mistake {
    std::vector<std::string> arguments;
    std::string said;
  };
  void expect_refused(const std::vector<Mistake>& mistakes) const {
    for (const auto& [arguments, said] : mistakes) EXPECT_TRUE(ended(live(arguments), 2, said));
  }
};

TEST_F(LiveUsage, OutputsNeverOverwriteWhatIsRead) {
  namespace fs = std::filesystem;
  test::write_video(path("k.avi"), 3);
  fs::create_hard_link(folder / "k.avi", folder / "hard.avi");
  fs::create_symlink("k.avi", folder / "link.avi");
  add_face("p/a.png");
  fs::create_hard_link(folder / "p/a.png", folder / "hard.png");
  fs::copy_file(*cascade_file("eye"), folder / "eye.xml");
  const std::string before = contents();
  expect_refused({
      {{"--record", "k.avi", "k.avi"}, "--record k.avi: this would overwrite the source k.avi"},
      {{"--record", "./k.avi", "k.avi"}, "the source k.avi"},
      {{"--record", "hard.avi", "k.avi"}, "the source k.avi"},
      {{"--record", "k.avi", "link.avi"}, "the source link.avi"},
      {{"--record", "k.avi", "file://" + path("k.avi")}, "the source file:///"},
      {{"--times", "k.avi", "k.avi"}, "--times k.avi"},
      {{"--screenshot", "p/a.png", "p"}, "a.png in the source p"},
      {{"--screenshot", "hard.png", "p/"}, "a.png in the source p/"},
      {{"--times", "eye.xml", "--cascade", "eye.xml", "k.avi"}, "the cascade eye.xml"},
      {{"--times", "s.png", "--screenshot", "s.png", "k.avi"}, "the file of --screenshot"},
      {{"--times", "r.avi", "--record", "./r.avi", "k.avi"}, "the file of --times"},
  });
  EXPECT_EQ(contents(), before);
  const test::Finished beside = live({"--screenshot", "p/new.png", "--times", "t", "p"});
  EXPECT_TRUE(ended(beside, 2, "there is no display"));
  EXPECT_TRUE(test::has(beside.err, "facesat detect"));  // the alternative
}

TEST_F(LiveUsage, OutputsReplaceOnlyTheirOwnKind) {
  add_face("a.pgm");
  for (const char* name : {"k.avi", "s.png", "t.csv"}) write_text(folder / name, "my own");
  expect_refused({
      {{"--record", "k.avi", "a.pgm"}, "--record k.avi: this file exists"},
      {{"--screenshot", "s.png", "a.pgm"}, "s.png exists and was not written by facesat"},
      {{"--times", "t.csv", "a.pgm"}, "t.csv exists and was not written by facesat"},
  });
  for (const char* name : {"k.avi", "s.png", "t.csv"})
    EXPECT_EQ(read_text(folder / name), "my own");
  const std::string times = times_csv({Sample(), Sample()});
  EXPECT_TRUE(is_times_csv(times));
  EXPECT_TRUE(is_times_csv(times_csv({})));
  for (const std::string& text : {times + "my note\n", times.substr(0, times.size() - 1),
                                  times + "1,2\n", "frame" + times, std::string()})
    EXPECT_FALSE(is_times_csv(text)) << text;

  write_picture(path("s.png"), Image<Bgr>({8, 8}).view());
  write_text(folder / "t.csv", times_csv({Sample()}));
  write_text(folder / "k.avi", "");
  const test::Finished own =
      live({"--record", "k.avi", "--screenshot", "s.png", "--times", "t.csv", "a.pgm"});
  EXPECT_TRUE(ended(own, 2, "there is no display"));
}

TEST_F(LiveUsage, OutputsThatCannotBeWrittenAreRefusedAtTheStart) {
  std::filesystem::create_directory(folder / "folder.avi");
  std::filesystem::create_symlink("/dev/null", folder / "device.avi");
  expect_refused({
      {{"--record", "/no/such/x.avi"}, "--record /no/such/x.avi: No such file"},
      {{"--times", "/no/such/x.csv"}, "--times /no/such/x.csv: No such file"},
      {{"--screenshot", "/no/such/x.png"}, "--screenshot /no/such/x.png: No such file"},
      {{"--screenshot", "x.xyz"}, "must end in .png or .jpg"},
      {{"--screenshot", "x"}, "must end in .png or .jpg"},
      {{"--record", "x.xyz"}, "must end in .avi, "},
      {{"--record", "x"}, "must end in .avi, "},
      {{"--record", "x.png"}, "must end in .avi, "},
      {{"--record", "folder.avi"}, "regular file"},
      {{"--record", "device.avi"}, "regular file"},
      {{"--times", "folder.avi"}, "Is a directory"},
  });
}

TEST_F(LiveUsage, ASourceAfterACascadeIsASource) {
  add_face("a.pgm");
  const std::vector<std::vector<std::string>> ways{
      {"--cascade", "eye", "a.pgm"},
      {"--cascade=eye", "a.pgm"},
      {"--cascade", "eye", "--cascade", "lbp:frontalface", "a.pgm"},
      {"a.pgm", "--cascade", "eye"},
      {"--cascade", "eye", "a.pgm", "b.pgm"},
      {"a.pgm", "--cascade", "eye", "--cascade", "smile"}};
  for (const auto& arguments : ways) {
    EXPECT_TRUE(ended(live(arguments), 2, "there is no display"))
        << ::testing::PrintToString(arguments);
  }
  const test::Finished unknown = live({"--cascade", "eye", "--cascade", "nose_ring", "a.pgm"});
  EXPECT_NE(unknown.err.find("nose_ring"), std::string::npos) << unknown.err;
  EXPECT_NE(live({"--help"}).out.find("--cascade NAME|FILE  "), std::string::npos);
}

TEST_F(LiveUsage, WhatTheMachineDoesNotHaveIsRefusedAtTheStart) {
  const auto refused = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "live");
    const test::Finished done = run(arguments);
    EXPECT_EQ(done.status, 2) << done.err;
    return done.err;
  };
  EXPECT_NE(refused({"--backend", "cuda", "--device", "99", "a.pgm"}).find("facesat: --"),
            std::string::npos);
  EXPECT_NE(refused({"--backend", "cpu", "--sat", "facesat_lookback"}).find("nothing to choose"),
            std::string::npos);
}

TEST_F(LiveUsage, DatedFilesAreAlwaysNew) {
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder);
  std::set<std::string> names;
  for (int i = 0; i < 5; ++i) names.insert(make_dated_file("", "png"));  // in quick succession
  std::filesystem::current_path(before);
  EXPECT_EQ(names.size(), 5u);
  EXPECT_EQ(files_below("."), std::vector<std::string>(names.begin(), names.end()));
}

TEST_F(LiveUsage, NoSourceIsOpenedThatAnOutputOverwrites) {
  add_face("p/a.pgm");
  test::write_video(path("k.avi"), 3);
  test::write_video(path("r.avi"), 3);
  Outputs outputs({"--screenshot", ""}, {"--times", path("p/a.pgm")}, {"--record", path("r.avi")},
                  {});
  outputs.check_source(path("k.avi"));
  outputs.check_source("0");
  outputs.check_source("rtsp://host/r.avi");
  for (const char* name : {"r.avi", "p", "p/a.pgm"})
    EXPECT_THROW(outputs.check_source(path(name)), UsageError) << name;
  outputs.set_recording(path("k.avi"));
  EXPECT_THROW(outputs.check_source(path("k.avi")), UsageError);
  outputs.check_source(path("r.avi"));  // no longer being recorded
  outputs.set_recording({});
  outputs.check_source(path("k.avi"));
}

}  // namespace
}  // namespace facesat::app
