// The loop over stages: endings, the detector's rules, and that nothing but samples and options
// decides about a cascade.
#include "training/trainer.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>

#include <gtest/gtest.h>
#include <tbb/global_control.h>
#include <unistd.h>

#include "datasets/negatives.hpp"
#include "datasets/training_folder.hpp"
#include "media/codec.hpp"
#include "support/errors.hpp"
#include "tests/kit/drawn_letter.hpp"
#include "tests/kit/messages.hpp"
#include "tests/kit/pictures.hpp"
#include "training/cascade_prefix.hpp"
#include "training/judge.hpp"

namespace facesat::training {
namespace {

namespace fs = std::filesystem;
constexpr Size letter_size{10, 9};

Samples letters(unsigned first, unsigned count) {
  Samples samples{.window = letter_size, .pixels = {}};
  for (unsigned i = 0; i < count; ++i)
    samples.add(test::drawn_letter(letter_size, first + i).view());
  return samples;
}

std::string bytes_of_file(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Counts trees, and remembers the last sentences.
struct Watcher : TrainingObserver {
  std::vector<StageStart> starts;
  std::vector<std::size_t> trees;  // of each stage that has ended in this call
  std::vector<Rates> rates, held_out_rates;
  std::size_t added = 0;

  void begins(const StageStart& start) override { starts.push_back(start); }
  void has_tree(int, const StageTrainer&) override { ++added; }
  void ends(int, const StageTrainer& trainer) override {
    trees.push_back(trainer.trees().size());
    rates.push_back(trainer.rates());
    held_out_rates.push_back(trainer.held_out_rates());
  }
};

class TrainerTest : public testing::Test {
 protected:
  TrainerTest()
      : folder_(fs::path(testing::TempDir()) /
                ("facesat_trainer_test" + std::to_string(::getpid()))) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    for (unsigned i = 0; i < 6; ++i) {
      Image<std::uint8_t> picture = test::clouds({90 + 11 * static_cast<int>(i), 70}, i, 2);
      inputs_.push_back((folder_ / (std::to_string(i) + ".png")).string());
      write_picture(inputs_.back(), test::coloured(picture.view()).view());
    }
    options_.features = FeatureSet::haar_basic;
    options_.stages = 4;
    options_.negatives = 90;
    options_.held_out = 0.2;
    options_.goal = 1e-9;
    options_.stage.min_hit_rate = 0.99;
    options_.stage.max_false_alarm = 0.2;
    options_.stage.max_trees = 6;
    positives_ = letters(0, 80);
    held_out_positives_ = letters(1000, 30);
  }
  ~TrainerTest() override { fs::remove_all(folder_); }

  // Trains, or goes on with, the cascade `name`.
  TrainingResult run(const std::string& name, TrainingObserver& observer,
                     const ShouldStop& should_stop = {}, Cascade from = {}) const {
    TrainingSets sets{.positives = positives_,
                      .held_out_positives = held_out_positives_,
                      .negatives = open_mine(std::make_shared<Negatives>(sources()), mining_)};
    const FeaturePool pool = make_pool(options_.features, positives_.window);
    from.kind = pool.kind;
    from.window = pool.window;
    if (fs::exists(output(name))) from = load_cascade(output(name));
    TrainingFolder store(state(name), output(name), "a comment");
    return train(pool, std::move(from), sets, options_, store, observer, should_stop);
  }
  TrainingResult run(const std::string& name) const {
    Watcher watcher;
    return run(name, watcher);
  }
  fs::path output(const std::string& name) const { return folder_ / (name + ".xml"); }
  fs::path state(const std::string& name) const { return folder_ / name; }
  std::string xml(const std::string& name) const { return bytes_of_file(output(name)); }
  NegativeSources sources() const {
    NegativeSources sources;
    sources.inputs = inputs_;
    return sources;
  }
  // The bytes of a training that nothing disturbs.
  std::string undisturbed() const {
    const TrainingResult result = run("undisturbed");
    EXPECT_EQ(result.ending, Ending::all_stages) << result.sentence;
    EXPECT_GE(result.cascade.trees.size(), 10u);
    return xml("undisturbed");
  }

  fs::path folder_;
  std::vector<std::string> inputs_;
  TrainingOptions options_;
  MiningOptions mining_;
  Samples positives_, held_out_positives_;
};

// ---- what does not change the result

TEST_F(TrainerTest, TrainsTheSameWithAnyNumberOfThreadsAndMemory) {
  for (const FeatureSet features : {FeatureSet::haar_basic, FeatureSet::lbp}) {
    const std::string name = kind_of(features) == FeatureKind::lbp ? "lbp" : "haar";
    options_.features = features;
    run(name);
    const std::string expected = xml(name);
    EXPECT_TRUE(test::has(expected, "a comment"));
    for (const int threads : {1, 2, 8}) {
      const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
      for (const std::size_t memory : {std::size_t{0}, std::size_t{100'000}}) {
        options_.stage.memory = memory;
        const std::string again = name + std::to_string(threads) + "-" + std::to_string(memory);
        run(again);
        EXPECT_EQ(xml(again), expected) << again;
      }
    }
    options_.stage.memory = StageOptions().memory;
  }
}

TEST_F(TrainerTest, GoesOnAfterEachTree) {
  for (const Boosting boosting :
       {Boosting::gentle, Boosting::real, Boosting::discrete, Boosting::logit}) {
    options_.stage.boosting = boosting;
    const std::string kind = "kind" + std::to_string(static_cast<int>(boosting));
    run(kind);
    const std::string expected = xml(kind);
    for (const std::size_t trees : {1, 2, 5}) {
      const std::string name = kind + "-" + std::to_string(trees);
      std::size_t calls = 0, resumed = 0;
      for (bool is_complete = false; !is_complete; ++calls) {
        ASSERT_LT(calls, 100u);
        Watcher watcher;
        try {
          run(name, watcher, [&] { return watcher.added >= trees; });
          is_complete = true;
        } catch (const Stopped&) {
          if (fs::exists(output(name))) {
            EXPECT_NO_THROW(load_cascade(output(name)));
          }
        }
        EXPECT_LE(watcher.added, trees);
        for (const StageStart& start : watcher.starts) resumed += start.is_resumed;
      }
      EXPECT_EQ(xml(name), expected) << name << ", " << calls << " calls";
      EXPECT_GT(calls, 1u);
      EXPECT_GT(resumed, 0u);
    }
  }
}

// Also while it looks for negatives.
TEST_F(TrainerTest, GoesOnAfterEachMoment) {
  const std::string expected = undisturbed();
  std::size_t ended = 0;
  bool is_complete = false;
  for (int moment = 1; !is_complete; moment += 1 + moment / 8) {
    const std::string name = "moment" + std::to_string(moment);
    int polls = 0;
    Watcher watcher;
    std::mutex mutex;  // several threads ask
    try {
      run(name, watcher, [&] {
        const std::scoped_lock lock(mutex);
        return ++polls >= moment;
      });
      is_complete = true;
    } catch (const Stopped&) {
      ++ended;
      run(name);
    }
    ASSERT_EQ(xml(name), expected) << "ended at " << moment;
  }
  EXPECT_GT(ended, 10u);
}

TEST_F(TrainerTest, GoesOnAfterALineThatWasCutOff) {
  const std::string expected = undisturbed();
  Watcher watcher;
  const std::string name = "cut";
  EXPECT_THROW(run(name, watcher, [&] { return watcher.added >= 3; }), Stopped);
  const fs::path copy = folder_ / "copy";
  fs::copy(state(name), copy);
  const bool has_output = fs::exists(output(name));
  if (has_output) fs::copy_file(output(name), folder_ / "copy.xml");
  const std::string lines = bytes_of_file(copy / "trees.jsonl");
  const std::size_t last = lines.rfind('\n', lines.size() - 2) + 1;
  for (std::size_t keep = last; keep < lines.size(); keep += 1 + (lines.size() - last) / 5) {
    fs::remove_all(state(name));
    fs::copy(copy, state(name));
    fs::remove(output(name));
    if (has_output) fs::copy_file(folder_ / "copy.xml", output(name));
    fs::resize_file(state(name) / "trees.jsonl", keep);
    run(name);
    EXPECT_EQ(xml(name), expected) << "after " << keep - last << " bytes";
  }
}

TEST_F(TrainerTest, MoreStagesAreAddedToAFinishedCascade) {
  const std::string expected = undisturbed();
  options_.stages = 2;
  run("longer");
  const Cascade two = load_cascade(output("longer"));
  EXPECT_EQ(two.stages.size(), 2u);
  options_.stages = 4;
  Watcher watcher;
  run("longer", watcher);
  ASSERT_FALSE(watcher.starts.empty());
  EXPECT_EQ(watcher.starts.front().stage, 2);
  EXPECT_EQ(xml("longer"), expected);
  // There is nothing left to do.
  Watcher idle;
  EXPECT_EQ(run("longer", idle).ending, Ending::all_stages);
  EXPECT_TRUE(idle.starts.empty());
  EXPECT_EQ(xml("longer"), expected);
}

// ---- the detector decides

TEST_F(TrainerTest, RatesAreThoseOfTheDetector) {
  struct : Watcher {
    fs::path folder;
    Size window;
    std::vector<StageState> states;
    void ends(int stage, const StageTrainer& trainer) override {
      Watcher::ends(stage, trainer);
      states.push_back(*TrainingFolder(folder, "", "").state(window, stage));
    }
  } watcher;
  for (const FeatureSet features : {FeatureSet::haar_all, FeatureSet::lbp}) {
    options_.features = features;
    const std::string name = kind_of(features) == FeatureKind::lbp ? "lbp" : "haar";
    watcher.folder = state(name);
    watcher.window = positives_.window;
    watcher.states.clear();
    watcher.starts.clear();
    watcher.rates.clear();
    watcher.held_out_rates.clear();
    const Cascade cascade = run(name, watcher).cascade;
    ASSERT_EQ(watcher.states.size(), cascade.stages.size());
    for (int stage = 0; stage < std::ssize(cascade.stages); ++stage) {
      const StageState& used = watcher.states[stage];
      EXPECT_EQ(used.stage, stage);
      // The part that passes the stage, of those samples that come to it; and how many do.
      const auto rate = [&](const Samples& samples) {
        const std::vector<Judgement> judgements = judge(cascade, samples);
        const auto that_pass = [&](int stages) {
          return std::ranges::count_if(
              judgements, [stages](const Judgement& j) { return j.stages_passed >= stages; });
        };
        return std::pair(
            static_cast<double>(that_pass(stage + 1)) / static_cast<double>(that_pass(stage)),
            static_cast<std::size_t>(that_pass(stage)));
      };
      const StageStart& start = watcher.starts[stage];
      EXPECT_EQ(start.negatives, used.negatives.count());
      EXPECT_EQ(start.held_out_negatives, used.held_out_negatives.count());
      EXPECT_EQ(rate(used.negatives),
                std::pair(watcher.rates[stage].false_alarm, used.negatives.count()));
      EXPECT_EQ(rate(used.held_out_negatives), std::pair(watcher.held_out_rates[stage].false_alarm,
                                                         used.held_out_negatives.count()));
      EXPECT_EQ(rate(positives_), std::pair(watcher.rates[stage].hit_rate, start.positives));
      EXPECT_EQ(rate(held_out_positives_),
                std::pair(watcher.held_out_rates[stage].hit_rate, start.held_out_positives));
      EXPECT_GE(watcher.rates[stage].hit_rate, options_.stage.min_hit_rate);
    }
  }
}

TEST_F(TrainerTest, KeepsNegativesThatStillPass) {
  Watcher watcher;
  run("kept", watcher);
  ASSERT_EQ(watcher.starts.size(), 4u);
  EXPECT_EQ(watcher.starts[0].kept, 0u);
  for (std::size_t stage = 1; stage < 4; ++stage)
    EXPECT_EQ(
        static_cast<double>(watcher.starts[stage].kept),
        std::round(watcher.rates[stage - 1].false_alarm * watcher.starts[stage - 1].negatives));
}

TEST_F(TrainerTest, ThresholdsAreChosenByThoseHeldOut) {
  options_.stage.min_hit_rate = 1;
  // Smaller letters among those held out: harder ones.
  for (unsigned i = 0; i < 10; ++i) {
    const Image<std::uint8_t> letter = test::drawn_letter(letter_size, 5000 + i);
    held_out_positives_.add(test::formula<std::uint8_t>(letter_size, [&](int x, int y) {
                              return (letter.row(y)[x] + letter.row(std::min(y + 1, 8))[x]) / 2;
                            }).view());
  }
  Watcher by_learnt, by_held_out;
  run("learnt", by_learnt);
  options_.stage.threshold_by_held_out = true;
  run("held_out", by_held_out);
  const auto all_hit = [](const std::vector<Rates>& rates) {
    return std::ranges::all_of(rates, [](const Rates& one) { return one.hit_rate == 1; });
  };
  EXPECT_TRUE(all_hit(by_learnt.rates));
  EXPECT_FALSE(all_hit(by_learnt.held_out_rates));
  EXPECT_TRUE(all_hit(by_held_out.held_out_rates));
}

TEST_F(TrainerTest, UsesNoMorePositivesThanAskedFor) {
  options_.positives = 33;
  options_.negatives = 0;  // as many
  Watcher watcher;
  run("few", watcher);
  EXPECT_EQ(watcher.starts.front().positives, 33u);
  EXPECT_EQ(watcher.starts.front().negatives, 33u);
  EXPECT_EQ(watcher.starts.front().held_out_negatives, 7u);
  // Not the first ones.
  ASSERT_GT(positives_.count(), 40u);
  positives_.pixels.resize(33 * positives_.window.area());
  run("first", watcher);
  EXPECT_NE(to_xml(load_cascade(output("few")), ""), to_xml(load_cascade(output("first")), ""));
}

// Few positives do not mean too few negatives.
TEST_F(TrainerTest, FewPositivesStillHaveTenNegatives) {
  options_.positives = 4;
  options_.negatives = 0;
  options_.stages = 1;
  Watcher watcher;
  EXPECT_EQ(run("four", watcher).ending, Ending::all_stages);
  EXPECT_EQ(watcher.starts.front().negatives, 10u);
}

// ---- other cascades

TEST_F(TrainerTest, GoesOnFromACascade) {
  undisturbed();
  Cascade cut = load_cascade(output("undisturbed"));
  cut.stages.resize(2);
  cut = without_unused(cut);
  options_.stage.boosting = Boosting::real;
  const auto expect_continued = [&](const TrainingResult& result, const std::string& name) {
    EXPECT_EQ(result.cascade.stages.size(), 4u);
    EXPECT_TRUE(begins_with(result.cascade, cut));
    EXPECT_TRUE(begins_with(load_cascade(output(name)), cut));
  };
  Watcher watcher;
  expect_continued(run("continued", watcher, {}, cut), "continued");
  EXPECT_EQ(watcher.starts.front().stage, 2);
  EXPECT_EQ(watcher.starts.front().kept, 0u);
  // Ended before the first new stage, and later.
  for (const std::size_t trees : {0, 1, 3}) {
    const std::string name = "ended" + std::to_string(trees);
    Watcher ended;
    EXPECT_THROW(run(
                     name, ended, [&] { return ended.added >= trees; }, cut),
                 Stopped);
    EXPECT_TRUE(begins_with(load_cascade(output(name)), cut));
    expect_continued(run(name), name);
    EXPECT_EQ(xml(name), xml("continued"));
  }
}

// ---- endings

TEST_F(TrainerTest, EndsWhenTheGoalIsReached) {
  options_.stages = 30;
  options_.goal = 0.2;
  const TrainingResult result = run("goal");
  EXPECT_EQ(result.ending, Ending::goal_reached);
  EXPECT_TRUE(test::has(result.sentence, "the goal is reached: the cascade accepts 0."));
  EXPECT_TRUE(test::has(result.sentence, "no more than 0.2"));
  EXPECT_LT(result.cascade.stages.size(), 30u);
  EXPECT_TRUE(begins_with(load_cascade(output("goal")), result.cascade));
  const std::string before = xml("goal");
  EXPECT_EQ(run("goal").ending, Ending::goal_reached);
  EXPECT_EQ(xml("goal"), before);
}

TEST_F(TrainerTest, EndsWhenNegativesAreExhausted) {
  options_.stages = 40;
  options_.goal = 1e-9;
  options_.stage.max_trees = 30;
  const TrainingResult result = run("exhausted");
  EXPECT_EQ(result.ending, Ending::no_negatives) << result.sentence;
  EXPECT_TRUE(test::has(result.sentence, "the negatives are exhausted: "));
  EXPECT_GT(result.cascade.stages.size(), 1u);
  EXPECT_LT(result.cascade.stages.size(), 40u);
  // What there is works.
  const Cascade whole = load_cascade(output("exhausted"));
  EXPECT_TRUE(begins_with(whole, result.cascade));
  EXPECT_GT(std::ranges::count_if(
                judge(whole, positives_),
                [&](const Judgement& j) { return j.stages_passed == std::ssize(whole.stages); }),
            static_cast<std::ptrdiff_t>(positives_.count() / 2));
}

TEST_F(TrainerTest, EndsWithoutPositives) {
  positives_.pixels.assign(20 * letter_size.area(), 77);
  const TrainingResult result = run("flat");
  EXPECT_EQ(result.ending, Ending::no_positives);
  EXPECT_EQ(result.sentence, "none of the positives can be used: their contrast is too low");
  EXPECT_FALSE(fs::exists(output("flat")));
}

// Every window of a picture of stripes is one of a few that repeat, and the positives are the same.
TEST_F(TrainerTest, EndsWhenNothingCanBeLearnt) {
  const auto stripes = [](Size size) {
    return test::formula<std::uint8_t>(size, [](int, int y) { return 30 + 90 * (y % 2); });
  };
  positives_.pixels.clear();
  for (int i = 0; i < 40; ++i) positives_.add(stripes(letter_size).view());
  held_out_positives_.pixels.clear();
  inputs_ = {(folder_ / "stripes.png").string()};
  // Of the height of the window, so that it has one level, and every window is the same.
  write_picture(inputs_.front(), test::coloured(stripes({300, letter_size.height}).view()).view());
  mining_.mirrored = false;
  const TrainingResult result = run("stripes");
  EXPECT_EQ(result.ending, Ending::nothing_to_learn) << result.sentence;
  EXPECT_EQ(result.sentence,
            "stage 0 cannot be trained: no feature tells its positives from its negatives");
  EXPECT_FALSE(fs::exists(output("stripes")));
}

// ---- what is kept between runs

TEST_F(TrainerTest, RefusesADamagedState) {
  Watcher watcher;
  EXPECT_THROW(run("damaged", watcher, [&] { return watcher.added >= 1; }), Stopped);
  ASSERT_FALSE(fs::exists(output("damaged")));  // the first stage is not complete
  const fs::path samples = state("damaged") / "stage.samples",
                 trees = state("damaged") / "trees.jsonl";
  const std::string good_samples = bytes_of_file(samples), good_trees = bytes_of_file(trees);
  const auto write = [](const fs::path& file, const std::string& text) {
    std::ofstream(file, std::ios::binary) << text;
  };
  const auto expect_refused = [&](const std::string& said, const std::string& what) {
    try {
      run("damaged");
      ADD_FAILURE() << what << " is not refused";
    } catch (const UsageError& error) {
      EXPECT_TRUE(test::has(error.what(), said)) << what;
    }
  };
  const auto changed = [](std::string text, const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
  };
  const auto with = [&](const std::string& from, const std::string& to) {
    return changed(good_samples, from, to);
  };
  const std::string is_damaged = "stage.samples: the file is damaged; --restart begins";
  for (const std::string& text :
       {good_samples.substr(0, good_samples.size() - 1), good_samples + "x",
        good_samples.substr(0, 30), with("\"facesat_training\":1", "\"facesat_training\":2"),
        with("\"negatives\":", "\"negatives\":9"), with("\"negatives\":", "\"negatives\":-"),
        with("\"taken\":", "\"taken\":1234567890123456"), with("\"taken\":", "\"taken\":[]"),
        with("\"stage\"", "\"state\""), with("[10,9]", "[0,0]"), with("[10,9]", "[-10,-9]"),
        with("[10,9]", "[1000000,1000000]"), with("[10,9]", "{}")}) {
    write(samples, text);
    expect_refused(is_damaged, text.substr(0, 200));
  }
  write(samples, with("[10,9]", "[9,10]"));
  expect_refused("the stages that it has are not those", "another window");
  write(samples, with("\"stage\":0", "\"stage\":3"));
  expect_refused("the stages that it has are not those", "a later stage");
  write(samples, "somebody's");
  expect_refused("was not written by facesat", "another file");

  write(samples, good_samples);
  for (const std::string& text :
       {"{\"stage\":}\n" + good_trees,
        "{\"stage\":0,\"nodes\":[[0,-1,99999999,0.5]],\"leaves\":[1,2]}\n" + good_trees,
        "{\"stage\":0,\"nodes\":[[0,-1,-1,0.5]],\"leaves\":[1,2]}\n" + good_trees,
        "{\"stage\":0,\"nodes\":[[0,-2,1,0.5]],\"leaves\":[1,2]}\n" + good_trees,
        "{\"stage\":0,\"nodes\":[[0,1,1,0.5]],\"leaves\":[1,2]}\n" + good_trees,
        "{\"stage\":0,\"nodes\":[[0,-1,1]],\"leaves\":[1,2]}\n" + good_trees,
        "{\"stage\":0,\"nodes\":[],\"leaves\":[]}\n" + good_trees,
        "{\"stage\":0,\"nodes\":[[0,-1,1,0.5]],\"leaves\":[1,null]}\n" + good_trees,
        changed(good_trees, "\"nodes\"", "\"knots\"")}) {
    write(trees, text);
    expect_refused("trees.jsonl: the file is damaged", text.substr(0, 100));
  }
  write(trees, good_trees);
  run("damaged");
  EXPECT_EQ(xml("damaged"), undisturbed());
}

TEST_F(TrainerTest, RefusesOtherNegatives) {
  Watcher watcher;
  EXPECT_THROW(run("other", watcher, [&] { return watcher.added >= 2; }), Stopped);
  inputs_.pop_back();
  EXPECT_THROW(run("other"), ArgumentError);
}

}  // namespace
}  // namespace facesat::training
