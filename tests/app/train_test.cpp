// facesat train, and the option names of opencv_traincascade.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/cascade.hpp"
#include "facesat.hpp"
#include "media/codec.hpp"
#include "tests/kit/cascades.hpp"
#include "tests/kit/drawn_letter.hpp"
#include "tests/kit/eventually.hpp"
#include "tests/kit/pictures.hpp"
#include "tests/kit/program.hpp"

namespace facesat::test {
namespace {

class TrainTest : public ProgramTest {
 protected:
  TrainTest() {
    for (unsigned i = 0; i < 60; ++i)
      write_pgm(fmt::format("crops/{:02}.pgm", i), drawn_letter({10, 9}, i));
    for (unsigned i = 0; i < 5; ++i)
      write_pgm(fmt::format("photos/{}.pgm", i), clouds({90 + 11 * static_cast<int>(i), 70}, i, 2));
  }

  // Without inputs and output.
  const Arguments small{"train",          "--window", "10x9",    "--stages", "3",
                        "--false-alarms", "0.3",      "--trees", "4",        "--hit-rate",
                        "0.97",           "--goal",   "1e-9"};
  const Arguments letters = joined(small, {"crops", "--negatives", "photos"});

  Finished train(const std::string& output, const Arguments& more = {}) const {
    return run(joined(joined(letters, {"-o", output}), more));
  }
  // The same with another value of one of the options in `small`.
  Finished train_with(const std::string& option, const std::string& value,
                      const std::string& output, const Arguments& more = {}) const {
    Arguments arguments = joined(joined(letters, {"-o", output}), more);
    *std::next(std::ranges::find(arguments, option)) = value;
    return run(arguments);
  }
  std::size_t stages_of(const std::string& name) const {
    return load_cascade(folder / name).stages.size();
  }
};

TEST_F(TrainTest, MakesACascadeThatFinds) {
  const Finished done = train("t.xml");
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_EQ(done.out, "");
  EXPECT_TRUE(has(done.err, "54 positives from 60 pictures; 6 held out\n"));
  EXPECT_TRUE(has(done.err, "stage 0: 54 positives, 54 negatives"));
  EXPECT_TRUE(has(done.err, "t.xml: all 3 stages are trained\n"));
  EXPECT_EQ(stages_of("t.xml"), 3u);
  EXPECT_EQ(files_below("t.xml.training"),
            (Names{"features.png", "hardest.csv", "hardest.png", "log.jsonl", "options.json",
                   "stage.samples", "trees.jsonl"}));
  for (const Json& event : read_records("t.xml.training/log.jsonl"))
    EXPECT_TRUE(event.contains("event")) << event.dump();
  const std::string xml = read_text("t.xml");
  EXPECT_TRUE(has(xml, "from 54 positives (6 held out)"));
  EXPECT_TRUE(has(xml, "hit-rate: 0.97"));
  // Letters among other things.
  Image<std::uint8_t> scene = clouds({80, 60}, 77, 2);
  const Image<std::uint8_t> letter = drawn_letter({10, 9}, 99);
  for (int y = 0; y < 9; ++y)
    for (int x = 0; x < 10; ++x) scene.row(20 + y)[30 + x] = letter.row(y)[x];
  write_pgm("scene.pgm", scene);
  const Finished found = detect({"--cascade", "t.xml", "--min-neighbors", "0", "scene.pgm"});
  EXPECT_TRUE(has(found.out, "\"x\":30,\"y\":20,\"width\":10,\"height\":9")) << found.out;
}

TEST_F(TrainTest, DoesNotDependOnThreadsAndMemory) {
  EXPECT_EQ(train("one.xml", {"-j", "1"}).status, 0);
  EXPECT_EQ(train("two.xml", {"-j", "2"}).status, 0);
  EXPECT_EQ(train("none.xml", {"--memory", "0", "-q"}).err, "");
  EXPECT_EQ(read_text("one.xml"), read_text("two.xml"));
  EXPECT_EQ(read_text("one.xml"), read_text("none.xml"));
  EXPECT_EQ(train("other.xml", {"--seed", "2"}).status, 0);
  EXPECT_NE(read_text("one.xml"), read_text("other.xml"));
}

TEST_F(TrainTest, TheLibraryTrainsTheSame) {
  EXPECT_EQ(train("t.xml", {"--mirror", "--copies", "1", "--shift", "0.1"}).status, 0);
  const auto images_in = [&](const std::string& name, std::vector<Picture>& pictures) {
    std::vector<TrainingImage> images;
    for (const std::string& file : files_below(name))
      pictures.push_back(read_picture((folder / name / file).string()));
    for (const Picture& picture : pictures) images.push_back({image_view(picture.pixels)});
    return images;
  };
  std::vector<Picture> crops, photos;
  const Training training = facesat::train(
      images_in("crops", crops), images_in("photos", photos),
      {.window = {10, 9}, .copies = 1, .shift = 0.1, .mirror = true},
      {.stages = 3, .hit_rate = 0.97, .false_alarms = 0.3, .goal = 1e-9, .trees = 4});
  EXPECT_EQ(cascade_to_xml(*training.cascade), cascade_to_xml(load_cascade(folder / "t.xml")));
}

TEST_F(TrainTest, UsesAnnotatedPicturesForBoth) {
  std::string lines;
  for (int i = 0; i < 30; ++i) {
    Image<std::uint8_t> scene = clouds({70, 50}, 100u + static_cast<unsigned>(i), 2);
    const Image<std::uint8_t> letter = drawn_letter({10, 9}, static_cast<unsigned>(i));
    for (int y = 0; y < 9; ++y)
      for (int x = 0; x < 10; ++x) scene.row(20 + y)[30 + x] = letter.row(y)[x];
    write_pgm(fmt::format("scenes/{}.pgm", i), scene);
    lines += fmt::format("scenes/{}.pgm 1 30 20 10 9\n", i);
  }
  write_text("info.dat", lines);
  const Arguments arguments{"info.dat", "--negatives", "info.dat", "-o", "t.xml"};
  EXPECT_TRUE(ended(run(joined(small, arguments)), 0, "all 3 stages"));
  // Objects outside of their pictures are named.
  write_text("bad.dat", lines + "scenes/0.pgm 1 300 20 10 9\nmissing.pgm 1 1 1 9 9\n");
  const Finished done = run(joined(small, {"bad.dat", "--negatives", "photos", "-o", "some.xml"}));
  EXPECT_TRUE(ended(done, 1, "scenes/0.pgm: the box 300 20 10 9 lies outside"));
  EXPECT_TRUE(has(done.err, "missing.pgm: "));
  EXPECT_EQ(stages_of("some.xml"), 3u);
}

// ---- mistakes

TEST_F(TrainTest, MistakesAreReportedInASentence) {
  write_text("broken.json", "{\"images\": [");
  write_text("broken.dat", "crops/00.pgm 1 1 1 8 8\ncrops/01.pgm 2 1 1 8 8\n");
  write_text("empty.txt", "");
  write_text("notes.txt", "no annotations");
  write_text("bg.txt", "missing.pgm\n");
  write_text("cascade.xml", lbp_cascade());
  fs::create_directory(folder / "empty");
  fs::create_directory(folder / "folder.xml");
  write_text("mine.xml", "somebody's");
  write_text("used.xml.training/stage.samples", "somebody's");
  write_pgm("few/1.pgm", drawn_letter({10, 9}, 1));
  write_pgm("tiny/1.pgm", clouds({8, 8}, 1, 2));
  for (int i = 0; i < 30; ++i) write_pgm(fmt::format("flat/{}.pgm", i), flat({10, 9}, 90));
  const struct {
    Arguments arguments;
    std::string said;
  } mistakes[] = {
      {{"crops", "--negatives", "photos"}, "--output is required"},
      {{"crops", "-o", "t.xml"}, "--negatives is required"},
      {{"--negatives", "photos", "-o", "t.xml"}, "POSITIVES"},
      {{"missing", "--negatives", "photos", "-o", "t.xml"}, "missing: "},
      {{"broken.json", "--negatives", "photos", "-o", "t.xml"}, "broken.json"},
      {{"broken.dat", "--negatives", "photos", "-o", "t.xml"}, "broken.dat"},
      {{"notes.txt", "--negatives", "photos", "-o", "t.xml"}, "these are not annotations"},
      {{"few", "--negatives", "photos", "-o", "t.xml"},
       "1 positive to learn from: too few; at least 10, better a thousand"},
      {{"flat", "--negatives", "photos", "-o", "t.xml"}, "their contrast is too low"},
      {{"crops", "--negatives", "missing", "-o", "t.xml"}, "missing: "},
      {{"crops", "--negatives", "empty", "-o", "t.xml"}, "negative"},
      {{"crops", "--negatives", "empty.txt", "-o", "t.xml"}, "empty.txt"},
      {{"crops", "--negatives", "bg.txt", "-o", "t.xml"}, "missing.pgm"},
      {{"crops", "--negatives", "tiny", "-o", "t.xml"},
       "1.pgm: 8x8 pixels are less than the window"},
      {{"crops", "--negatives", "photos", "-o", "t.xml", "--window", "2x9"},
       "--window: expected sides from 3 to 1000, not 2x9"},
      {{"crops", "--negatives", "photos", "-o", "t.xml", "--window", "200x200"},
       "a window of 200x200 has"},
      {{"crops", "--negatives", "photos", "-o", "mine.xml"},
       "mine.xml: this file exists, and no training of it can be gone on with"},
      {{"crops", "--negatives", "photos", "-o", "folder.xml"}, "folder.xml"},
      {{"crops", "--negatives", "photos", "-o", "used.xml"}, "was not written by facesat"},
      {{"crops", "--negatives", "photos", "-o", "t.xml", "--from", "missing.xml"}, "missing.xml"},
      {{"crops", "--negatives", "photos", "-o", "t.xml", "--from", "mine.xml"}, "mine.xml"},
      {{"crops", "--negatives", "photos", "-o", "t.xml", "--from", "cascade.xml"},
       "a cascade of lbp features in windows of 12x10; features and window must agree"},
      {{"crops", "--negatives", "photos", "-o", "t.xml", "--from", "cascade.xml:7"},
       "the cascade has 1 stage"},
      {{"crops", "--negatives", "photos", "-o", "t.xml", "--hit-rate", "1.1"},
       "expected a number from 0.5 to 1"},
      {{"crops", "--negatives", "photos", "-o", "t.xml", "--boosting", "best"},
       "--boosting: expected"},
      {{"crops", "--negatives", "photos", "-o", "t.xml", "--backend", "gpu"},
       "--backend: expected auto|cpu|cuda"},
      {{"crops", "--negatives", "photos", "-o", "t.xml", "--depth", "0"}, "--depth"},
      {{"crops", "--negatives", "photos", "-o", "t.xml", "--bins", "257"}, "--bins"},
      {{"crops", "--negatives", "photos", "-o", "t.xml", "--scale-factor", "1"}, "--scale-factor"},
  };
  const auto somebodys = [&] {
    return read_text("mine.xml") + read_text("used.xml.training/stage.samples");
  };
  for (const auto& [arguments, said] : mistakes) {
    Arguments all = joined({"train"}, arguments);
    if (std::ranges::find(all, "--window") == all.end())
      all.insert(all.end(), {"--window", "10x9"});
    const Finished done = run(all);
    EXPECT_TRUE(ended(done, 2, said)) << ::testing::PrintToString(arguments);
    EXPECT_EQ(done.out, "");
    EXPECT_FALSE(exists("t.xml")) << ::testing::PrintToString(arguments);
    remove({"t.xml", "t.xml.training"});
  }
  EXPECT_EQ(somebodys(), "somebody'ssomebody's");
}

TEST_F(TrainTest, OutputsThatCannotBeWrittenAreNamed) {
  EXPECT_TRUE(ended(train("crops/00.pgm/t.xml"), 3, "crops/00.pgm"));
  EXPECT_TRUE(ended(train("-"), 2, "this cannot go to standard output"));
  EXPECT_FALSE(exists("-.training"));
  // A full disk, as it were: the state, then a tree.
  const Finished done = run(joined(letters, {"-o", "t.xml"}), "", with_limit(RLIMIT_FSIZE, 4096));
  EXPECT_TRUE(ended(done, 3, "t.xml.training/stage.samples.new: "));
  EXPECT_EQ(train("t.xml").status, 0);
  EXPECT_EQ(train("whole.xml").status, 0);
  EXPECT_EQ(read_text("t.xml"), read_text("whole.xml"));
}

// ---- going on

TEST_F(TrainTest, ChangedOptionsAreNamed) {
  EXPECT_EQ(train("t.xml", {"--copies", "1", "--shift", "0.1"}).status, 0);
  const std::string before = contents();
  const struct {
    Arguments more;
    std::string said;
  } changes[] = {
      {{}, "--copies was 1, is not given; --shift was 0.1, is not given"},
      {{"--copies", "1", "--shift", "0.2"}, "--shift was 0.1, is 0.2"},
      {{"--copies", "1", "--shift", "0.1", "--mirror"}, "--mirror was false, is true"},
      {{"--copies", "1", "--shift", "0.1", "--seed", "3", "--depth", "2"},
       "--depth was 1, is 2; --seed was 1, is 3"},
      {{"--copies", "1", "--shift", "0.1", "--boosting", "real"},
       "--boosting was \"gentle\", is \"real\""},
      {{"--copies", "1", "--shift", "0.1", "--negatives", "crops"},
       "--negatives was [\"photos\"], is [\"photos\",\"crops\"]"},
      {{"--copies", "1", "--shift", "0.1", "--aspect", "keep"},
       "--aspect was \"stretch\", is \"keep\""},
  };
  for (const auto& [more, said] : changes)
    EXPECT_TRUE(
        ended(train("t.xml", more), 2, "t.xml: this training was begun in another way: " + said));
  EXPECT_EQ(contents(), before);
  EXPECT_EQ(train("t.xml", {"--restart"}).status, 0);
  EXPECT_EQ(train("new.xml").status, 0);
  EXPECT_EQ(read_text("t.xml"), read_text("new.xml"));
  // It forgets a training, but no other file.
  write_text("mine.xml", "somebody's");
  EXPECT_TRUE(ended(train("mine.xml", {"--restart"}), 2, "mine.xml: this file exists"));
  EXPECT_EQ(read_text("mine.xml"), "somebody's");
}

TEST_F(TrainTest, OptionsMayChangeAsLongAsNothingIsTrained) {
  write_pgm("tiny/1.pgm", clouds({8, 8}, 1, 2));
  const Arguments before = joined(small, {"crops", "--negatives", "tiny", "-o", "t.xml"});
  EXPECT_EQ(run(before).status, 2);
  EXPECT_TRUE(exists("t.xml.training/options.json"));
  EXPECT_EQ(train("t.xml").status, 0);
}

TEST_F(TrainTest, NothingNeedBeHeldOut) {
  const Finished done = train("t.xml", {"--held-out", "0"});
  EXPECT_TRUE(ended(done, 0, "60 positives from 60 pictures; 0 held out\n"));
  EXPECT_FALSE(has(done.err, "of those held out"));
  EXPECT_TRUE(has(run({"cascades", "t.xml"}).out, "             -              -\n"));
}

TEST_F(TrainTest, OtherPositivesAreRefused) {
  EXPECT_EQ(train("t.xml").status, 0);
  write_pgm("crops/60.pgm", drawn_letter({10, 9}, 60));
  EXPECT_TRUE(ended(train_with("--stages", "4", "t.xml"), 2,
                    "the positives are not those with which training began"));
  remove({"crops/60.pgm"});
  EXPECT_TRUE(ended(train_with("--stages", "4", "t.xml"), 0, "all 4 stages are trained"));
}

TEST_F(TrainTest, StagesAreNeverTakenAway) {
  EXPECT_EQ(train("t.xml").status, 0);
  const std::string before = read_text("t.xml");
  EXPECT_TRUE(ended(train_with("--stages", "2", "t.xml"), 2,
                    "t.xml: it has 3 stages already, more than the 2 that are wanted"));
  EXPECT_TRUE(ended(train_with("--stages", "2", "u.xml", {"--from", "t.xml"}), 2,
                    "--from t.xml: it has 3 stages already"));
  EXPECT_EQ(read_text("t.xml"), before);
  EXPECT_EQ(train_with("--stages", "2", "u.xml", {"--from", "t.xml:2"}).status, 0);
  EXPECT_EQ(stages_of("u.xml"), 2u);
}

TEST_F(TrainTest, AFolderIsForOneRunAtATime) {
  write_text("t.xml.training/options.json", "");
  const int descriptor = ::open((folder / "t.xml.training").c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_EQ(::flock(descriptor, LOCK_EX), 0);
  EXPECT_TRUE(ended(train("t.xml"), 2, "t.xml.training: another run of facesat trains there"));
  ::close(descriptor);
  EXPECT_EQ(train("t.xml").status, 0);
}

TEST_F(TrainTest, InputsWithoutUseAreNamed) {
  write_text("empty/readme.txt", "");
  write_text("photos/broken.pgm", "P5");
  const Finished done = run(joined(letters, {"empty", "-o", "t.xml"}));
  EXPECT_TRUE(ended(done, 1, "empty: there are no objects in it"));
  EXPECT_TRUE(has(done.err, "broken.pgm: "));
  EXPECT_EQ(stages_of("t.xml"), 3u);
  EXPECT_TRUE(ended(train("u.xml", {"--validation", "empty"}), 2, "--validation: "));
  EXPECT_TRUE(ended(run(joined(small, {"crops", "--negatives", "empty", "-o", "u.xml"})), 2,
                    "empty: there are no pictures to look for negatives in"));
  EXPECT_TRUE(ended(train("u.xml", {"--held-out", "0", "--thresholds-by-held-out"}), 2,
                    "--thresholds-by-held-out needs objects that are held out"));
  // Of another shape than the window.
  EXPECT_TRUE(ended(train_with("--window", "9x18", "u.xml"), 1,
                    "60 of 60 objects have another shape than the window"));
}

TEST_F(TrainTest, DamagedStatesAreNamed) {
  EXPECT_EQ(train("t.xml").status, 0);
  EXPECT_EQ(train("whole.xml").status, 0);
  const struct {
    std::string file, said;
  } damages[] = {{"t.xml.training/options.json", "options.json: the file is damaged; --restart"},
                 {"t.xml.training/stage.samples", "stage.samples: the file is damaged; --restart"},
                 {"t.xml", "t.xml, line "}};
  for (const auto& [file, said] : damages) {
    const std::string good = read_text(file);
    for (const std::size_t keep : {good.size() / 2, std::size_t{40}}) {
      write_text(file, good.substr(0, keep));
      EXPECT_TRUE(ended(train("t.xml"), 2, said)) << file << ", " << keep;
    }
    EXPECT_EQ(train("t.xml", {"--restart"}).status, 0);
    EXPECT_EQ(read_text("t.xml"), read_text("whole.xml"));
  }
  // A cascade that is gone, or another one.
  remove({"t.xml"});
  EXPECT_TRUE(ended(train("t.xml"), 2, "the stages that it has are not those"));
  remove({"t.xml.training"});
  EXPECT_EQ(train("t.xml").status, 0);
}

TEST_F(TrainTest, GoesOnFromACascade) {
  EXPECT_EQ(train("t.xml").status, 0);
  const Arguments five{"train", "--window", "10x9", "--stages", "5",           "--trees",
                       "4",     "--goal",   "1e-9", "crops",    "--negatives", "photos"};
  const Finished done = run(joined(five, {"--from", "t.xml:2", "-o", "longer.xml"}));
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_TRUE(has(done.err, "stage 2: "));
  EXPECT_FALSE(has(done.err, "stage 1: "));
  EXPECT_EQ(stages_of("longer.xml"), 5u);
  EXPECT_TRUE(has(read_text("longer.xml"), "\nfrom: t.xml:2\n"));
  EXPECT_EQ(stages_of("t.xml"), 3u);
}

TEST_F(TrainTest, CtrlCEndsWithASentenceAndACascade) {
  const Arguments arguments{
      "train", "--window", "10x9",  "--stages", "30",          "--false-alarms", "0.2", "--depth",
      "3",     "--goal",   "1e-12", "crops",    "--negatives", "photos",         "-o",  "t.xml"};
  const Running running = start(arguments);
  wait_for("t.xml");
  running.signal(SIGINT);
  const Finished done = running.wait();
  EXPECT_EQ(done.status, 128 + SIGINT) << done.err;
  EXPECT_TRUE(
      has(done.err, "interrupted; the same command goes on, and t.xml has the stages so far"));
  EXPECT_GE(stages_of("t.xml"), 1u);
}

// ---- killed programs

class KilledTraining : public TrainTest {
 protected:
  KilledTraining() { EXPECT_EQ(train("whole.xml").status, 0); }

  // Kills a training at its n-th change of a file; returns whether it was.
  bool is_killed(const std::string& output, int n) const {
    const Finished done = run(joined(letters, {"-q", "-o", output}), "", [n] {
      preload(FACESAT_KILLED_AT);
      ::setenv("FACESAT_KILLED_AT", std::to_string(n).c_str(), 1);
    });
    EXPECT_TRUE(done.status == 0 || done.status == 128 + SIGKILL) << done.status << done.err;
    return done.status != 0;
  }
  void expect_whole(const std::string& output, const std::string& what) const {
    EXPECT_EQ(train(output, {"-q"}).status, 0) << what;
    EXPECT_TRUE(read_text(output) == read_text("whole.xml")) << what;
  }
};

TEST_F(KilledTraining, LosesNothing) {
  int kills = 0;
  for (int n = 1; is_killed("t.xml", n); n += 1 + n / 16) {
    ++kills;
    if (!read_text("t.xml").empty()) {
      EXPECT_NO_THROW(stages_of("t.xml")) << n;
    }
    expect_whole("t.xml", fmt::format("killed at change {}", n));
    remove({"t.xml", "t.xml.training"});
  }
  EXPECT_GE(kills, 20);
}

TEST_F(KilledTraining, LosesNothingAgainAndAgain) {
  int kills = 0;
  for (int n = 3; is_killed("t.xml", n); n += 2) ++kills;
  EXPECT_GE(kills, 5);
  expect_whole("t.xml", "killed again and again");
}

// Whatever it does, such as looking for negatives.
TEST_F(KilledTraining, LosesNothingAtAnyTime) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  EXPECT_EQ(train("timed.xml", {"-q"}).status, 0);
  const auto whole = Clock::now() - begin;
  for (int part = 1; part < 8; ++part) {
    const Running running = start(joined(letters, {"-q", "-o", "t.xml"}));
    std::this_thread::sleep_for(whole * part / 8);
    running.signal(SIGKILL);
    running.wait();
    expect_whole("t.xml", fmt::format("killed after {} eighths", part));
    remove({"t.xml", "t.xml.training"});
  }
}

// ---- old names

TEST_F(TrainTest, OldNamesDoTheSame) {
  std::string list = "# photographs\n";
  for (int i = 0; i < 5; ++i) list += fmt::format("photos/{}.pgm\n", i);
  write_text("bg.txt", list);
  EXPECT_EQ(run({"samples", "crops", "--window", "10x9", "-o", "s.vec"}).status, 0);
  const Arguments same{"--negatives", "bg.txt", "--window",       "10x9", "--trees", "4",
                       "--hit-rate",  "0.97",   "--false-alarms", "0.3",  "--goal",  "1e-9"};
  const Arguments old{"train",  "-data",
                      "old",    "-vec",
                      "s.vec",  "-bg",
                      "bg.txt", "-w",
                      "10",     "-h",
                      "9",      "-maxWeakCount",
                      "4",      "-minHitRate",
                      "0.97",   "-maxFalseAlarmRate",
                      "0.3",    "-acceptanceRatioBreakValue",
                      "1e-9"};
  const struct {
    Arguments old, present;
  } cases[] = {
      {{"-numStages", "2", "-featureType", "LBP", "-numThreads", "2"},
       {"--stages", "2", "--features", "lbp"}},
      {{"-numStages",
        "2",
        "-mode",
        "ALL",
        "-numPos",
        "40",
        "-numNeg",
        "50",
        "-bt",
        "RAB",
        "-maxDepth",
        "2",
        "-weightTrimRate",
        "0.9",
        "-stageType",
        "BOOST",
        "-baseFormatSave",
        "-precalcValBufSize",
        "100",
        "-precalcIdxBufSize",
        "100"},
       {"--stages", "2", "--features", "haar-all", "--positives-per-stage", "40",
        "--negatives-per-stage", "50", "--boosting", "real", "--depth", "2", "--trim", "0.9"}},
      {{"-numStages", "2", "-featureType", "HAAR", "-mode", "CORE", "-bt", "DAB", "--held-out",
        "0.2"},
       {"--stages", "2", "--features", "haar-core", "--boosting", "discrete", "--held-out", "0.2"}},
  };
  for (const auto& [names, present] : cases) {
    const Finished done = run(joined(old, names));
    EXPECT_EQ(done.status, 0) << done.err;
    const bool chooses = std::ranges::find(present, "--held-out") != present.end();
    const std::string held_out = "all samples are learnt from; --held-out 0.1 shows over-training";
    EXPECT_EQ(done.err.find(held_out) == done.err.npos, chooses) << done.err;
    EXPECT_TRUE(has(done.err, "facesat: -bg: negatives are found among all windows"));
    Arguments now = joined({"train", "s.vec", "-o", "new/cascade.xml"}, joined(same, present));
    if (!chooses) now.insert(now.end(), {"--held-out", "0"});
    EXPECT_EQ(run(now).status, 0);
    EXPECT_EQ(read_text("old/cascade.xml"), read_text("new/cascade.xml"));
    remove({"old", "new"});
  }
}

TEST_F(TrainTest, OldNamesSayWhatDiffers) {
  const Finished done =
      run(joined(letters, {"-data", "old", "-baseFormatSave", "-precalcValBufSize", "100"}));
  EXPECT_TRUE(has(done.err, "-baseFormatSave: the present format is written"));
  EXPECT_TRUE(has(done.err, "-precalcValBufSize: --memory MIB says how much memory is used"));
}

TEST_F(TrainTest, OldNamesThatDoNotFitAreRefused) {
  const struct {
    Arguments arguments;
    std::string said;
  } mistakes[] = {
      {{"-numPso", "5"}, "-numPso: there is no such option"},
      {{"-hitRate", "0.9"}, "-hitRate: there is no such option"},
      {{"-bt", "XAB"}, "-bt: expected DAB|RAB|LB|GAB, not \"XAB\""},
      {{"-featureType", "HOG"}, "-featureType: expected HAAR|LBP, not \"HOG\""},
      {{"-mode", "SOME"}, "-mode: expected BASIC|CORE|ALL, not \"SOME\""},
      {{"-stageType", "TREE"}, "-stageType: expected BOOST, not \"TREE\""},
      {{"-bt", "DAB", "-bt", "RAB"}, "-bt: this option can only be given once"},
      {{"-numStages", "x"}, "--stages: expected a whole number"},
      {{"-w", "x"}, "-w: expected a whole number, not \"x\""},
      {{"-data"}, "-data: a value is missing"},
      {{"-bt"}, "-bt: a value is missing"},
  };
  for (const auto& [arguments, said] : mistakes)
    EXPECT_TRUE(
        ended(run(joined({"train", "-vec", "s.vec", "-bg", "photos", "-o", "t.xml"}, arguments)), 2,
              said));
  EXPECT_FALSE(exists("t.xml"));
  EXPECT_TRUE(has(run({"train", "-h"}).out, "facesat train [OPTIONS]"));
}

}  // namespace
}  // namespace facesat::test
