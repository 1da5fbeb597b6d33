// facesat samples, and the option names of opencv_createsamples.
#include <fmt/format.h>

#include "datasets/vec_file.hpp"
#include "media/codec.hpp"
#include "tests/kit/encode.hpp"
#include "tests/kit/pictures.hpp"
#include "tests/kit/program.hpp"

namespace facesat::test {
namespace {

class SamplesTest : public ProgramTest {
 protected:
  SamplesTest() {
    write_pgm("a.pgm", clouds({60, 50}, 1, 2));
    write_pgm("b.pgm", clouds({40, 40}, 2, 2));
    write_text("info.dat", "a.pgm 2 1 2 30 30 20 10 36 36\nb.pgm 1 0 0 40 40\n");
  }
  training::Samples vec(const std::string& name, Size window = {24, 24}) const {
    return training::read_vec(folder / name, window);
  }
};

TEST_F(SamplesTest, BecomeAVecFileAndAReport) {
  const Finished done = run({"samples", "info.dat", "-o", "s.vec", "--mirror"});
  EXPECT_EQ(done.status, 0);
  EXPECT_EQ(done.out, "6 samples of 3 objects in 2 pictures\n");
  EXPECT_EQ(done.err, "");
  EXPECT_EQ(vec("s.vec").count(), 6u);
  // Another run replaces it; it says nothing if asked to.
  EXPECT_EQ(run({"samples", "info.dat", "-q", "-o", "s.vec", "--window", "20x30"}).out, "");
  EXPECT_EQ(vec("s.vec", {20, 30}).count(), 3u);
}

TEST_F(SamplesTest, BecomePicturesWhichAreSamplesAgain) {
  EXPECT_EQ(run({"samples", "info.dat", "-o", "s.vec"}).status, 0);
  EXPECT_EQ(run({"samples", "info.dat", "-o", "all", "--copies", "1"}).status, 0);
  EXPECT_EQ(files_below("all").size(), 6u);
  EXPECT_EQ(run({"samples", "info.dat", "-o", "all"}).status, 0);
  EXPECT_EQ(files_below("all"), (Names{"000001.png", "000002.png", "000003.png"}));
  EXPECT_EQ(run({"samples", "all", "-o", "again.vec"}).status, 0);
  EXPECT_EQ(vec("again.vec").pixels, vec("s.vec").pixels);
}

TEST_F(SamplesTest, BecomeASheet) {
  EXPECT_EQ(run({"samples", "info.dat", "-o", "sub/sheet.png"}).status, 0);
  EXPECT_EQ(run({"samples", "info.dat", "-o", "s.vec"}).status, 0);
  const Picture sheet = read_picture(folder / "sub/sheet.png");
  ASSERT_EQ(sheet.size(), (Size{2 * 25 + 1, 2 * 25 + 1}));
  const training::Samples samples = vec("s.vec");
  for (int i = 0; i < 3; ++i)
    for (int y = 0; y < 24; ++y)
      for (int x = 0; x < 24; ++x)
        EXPECT_EQ(sheet.pixels.row(1 + i / 2 * 25 + y)[1 + i % 2 * 25 + x].g, samples[i].row(y)[x]);
  EXPECT_EQ(sheet.pixels.row(25)[10].g, 0);
}

TEST_F(SamplesTest, ComeFromArchivesAndListsToo) {
  write_tar(folder / "crops.tar", {{"a.pgm", read_text("a.pgm")}, {"x/b.pgm", read_text("b.pgm")}});
  write_text("list.txt", "a.pgm\nb.pgm\n");
  EXPECT_EQ(run({"samples", "crops.tar", "-o", "tar.vec"}).status, 0);
  EXPECT_EQ(run({"samples", "@list.txt", "-o", "list.vec"}).status, 0);
  EXPECT_EQ(vec("tar.vec").count(), 2u);
  EXPECT_EQ(vec("tar.vec").pixels, vec("list.vec").pixels);
}

TEST_F(SamplesTest, DoNotDependOnThreads) {
  const Arguments copies{"samples", "info.dat", "--copies", "20",  "--shift", "0.1",
                         "--turn",  "20",       "--scale",  "0.2", "-q"};
  EXPECT_EQ(run(joined(copies, {"-o", "one.vec", "-j", "1"})).status, 0);
  EXPECT_EQ(run(joined(copies, {"-o", "all.vec"})).status, 0);
  EXPECT_EQ(run(joined(copies, {"-o", "other.vec", "--seed", "2"})).status, 0);
  EXPECT_EQ(read_text("one.vec"), read_text("all.vec"));
  EXPECT_NE(read_text("other.vec"), read_text("all.vec"));
}

TEST_F(SamplesTest, WhatIsRefusedIsNamedAndMakesTheStatusOne) {
  write_text("bad.dat", "a.pgm 2 1 2 30 30 100 0 9 9\nmissing.pgm 1 1 2 30 30\n");
  const Finished done = run({"samples", "bad.dat", "-o", "s.vec"});
  EXPECT_EQ(done.status, 1);
  EXPECT_TRUE(has(done.out, "1 sample of 1 object in 1 picture\nrefused: 2\n"));
  EXPECT_TRUE(has(done.out, "  a.pgm: the box 100 0 9 9 lies outside"));
  EXPECT_TRUE(has(done.out, "  missing.pgm: "));
  EXPECT_EQ(vec("s.vec").count(), 1u);
}

TEST_F(SamplesTest, MistakesAreReportedInASentenceAndNothingIsWritten) {
  write_text("none.dat", "a.pgm 0\n");
  write_text("notes.txt", "no annotations");
  write_text("kept.vec", "somebody's");
  const std::string before = contents();
  const struct {
    Arguments arguments;
    std::string said;
  } mistakes[] = {
      {{}, "INPUT"},
      {{"info.dat"}, "--output is required"},
      {{"none.dat", "-o", "s.vec"}, "no samples"},
      {{"notes.txt", "-o", "s.vec"}, "notes.txt: these are not annotations in a format"},
      {{"missing.dat", "-o", "s.vec"}, "missing.dat: "},
      {{"info.dat", "-o", "kept.vec"}, "was not written by facesat"},
      {{"kept.vec", "-o", "./kept.vec"}, "this is an input, and cannot be the output"},
      {{"info.dat", "-o", "s.txt"}, "expected FILE.vec, a picture of all samples"},
      {{"info.dat", "-o", "a.pgm/s.vec"}, "a.pgm/s.vec"},
      {{"info.dat", "-o", "s.vec", "--window", "2"}, "--window: expected sides from 3 to 1000"},
      {{"info.dat", "-o", "s.vec", "--label", "cat"}, "no object has the label \"cat\""},
      {{"info.dat", "-o", "s.vec", "--copies", "1", "--shift", "2"},
       "expected a number from 0 to 1"},
      {{"info.dat", "-o", "s.vec", "--copies", "1", "--turn", "nan"},
       "expected a number from 0 to"},
      {{"info.dat", "-o", "s.vec", "--shift", "0.1"}, "--shift requires --copies"},
      {{"info.dat", "-o", "s.vec", "--invert"}, "--invert requires --distort"},
      {{"info.dat", "-o", "s.vec", "--distort", "2", "--copies", "2"}, "excludes"},
      {{"info.dat", "-o", "s.vec", "--distort", "2", "--transparent", "256"}, "from 0 to 255"},
      {{"info.dat", "-o", "s.vec", "--distort", "2", "--background", "notes.txt"}, "background"},
      {{"info.dat", "-o", "s.vec", "--aspect", "wide"}, "--aspect: expected keep|stretch"},
  };
  for (const auto& [arguments, said] : mistakes) {
    const Finished done = run(joined({"samples"}, arguments));
    EXPECT_EQ(done.status, 2) << ::testing::PrintToString(arguments);
    EXPECT_EQ(done.out, "");
    EXPECT_TRUE(has(done.err, said)) << ::testing::PrintToString(arguments);
  }
  EXPECT_EQ(contents(), before);
}

// ---- old names

TEST_F(SamplesTest, OldNamesDoTheSame) {
  EXPECT_EQ(
      run({"samples", "info.dat", "-o", "new.vec", "--window", "20x30", "--count", "2"}).status, 0);
  const Finished old = run({"samples", "-info", "info.dat", "-vec", "old.vec", "-w", "20", "-h",
                            "30", "-num", "2", "-show", "4.0"});
  EXPECT_EQ(old.status, 0);
  EXPECT_EQ(old.err, "facesat: -show: samples are shown by a picture of them: -o SHEET.png\n");
  EXPECT_EQ(read_text("old.vec"), read_text("new.vec"));
}

TEST_F(SamplesTest, OldNamesOfOnePictureMakeDistortedCopies) {
  write_text("bg.txt", "b.pgm\n");
  EXPECT_EQ(run({"samples",
                 "a.pgm",
                 "-o",
                 "new.vec",
                 "--distort",
                 "30",
                 "--background",
                 "bg.txt",
                 "--transparent",
                 "0",
                 "--tolerance",
                 "9",
                 "--invert",
                 "--invert-at-random",
                 "--intensity",
                 "10",
                 "--max-x-angle",
                 "0.1",
                 "--max-y-angle",
                 "0.2",
                 "--max-z-angle",
                 "0.3",
                 "--seed",
                 "7"})
                .status,
            0);
  const Finished old =
      run({"samples",    "-img",     "a.pgm",    "-vec",       "old.vec",   "-num",       "30",
           "-bg",        "bg.txt",   "-bgcolor", "0",          "-bgthresh", "9",          "-inv",
           "-randinv",   "-maxidev", "10",       "-maxxangle", "0.1",       "-maxyangle", "0.2",
           "-maxzangle", "0.3",      "-rngseed", "7"});
  EXPECT_EQ(old.status, 0);
  EXPECT_TRUE(
      has(old.err, "facesat: -img: without -bgcolor no part of the picture is transparent"));
  EXPECT_EQ(read_text("old.vec"), read_text("new.vec"));
  EXPECT_EQ(vec("old.vec").count(), 30u);
  EXPECT_EQ(run({"samples", "-img", "a.pgm", "-vec", "old.vec"}).status, 0);
  EXPECT_EQ(vec("old.vec").count(), 1000u);
}

TEST_F(SamplesTest, OldNamesThatDoNotFitAreRefused) {
  const struct {
    Arguments arguments;
    std::string said;
  } mistakes[] = {
      {{"-inof", "info.dat", "-vec", "s.vec"}, "-inof: there is no such option"},
      {{"-info", "info.dat", "-vec"}, "-vec: a value is missing"},
      {{"-info", "info.dat", "-vec", "s.vec", "-w", "x"}, "-w: expected a whole number, not \"x\""},
      {{"-info", "info.dat", "-vec", "s.vec", "-num", "x"}, "--count: expected a whole number"},
      {{"-vec", "s.vec"}, "-vec alone: to see the samples"},
      {{"-img", "a.pgm", "-info", "out.dat"}, "-img with -info: test pictures are not made"},
      {{"-info", "info.dat", "-vec", "s.vec", "-pngoutput"}, "-pngoutput: name a folder"},
  };
  for (const auto& [arguments, said] : mistakes)
    EXPECT_TRUE(ended(run(joined({"samples"}, arguments)), 2, said));
  EXPECT_FALSE(exists("s.vec"));
  EXPECT_TRUE(has(run({"samples", "-h"}).out, "facesat samples [OPTIONS]"));
  // Elsewhere, they are no options.
  EXPECT_EQ(run({"detect", "-info", "a.pgm"}).status, 2);
}

}  // namespace
}  // namespace facesat::test
