// The log of a training, and the panel that shows it.
#include <fstream>

#include <gtest/gtest.h>

#include "app/live/panels/panel.hpp"
#include "app/train/training_log.hpp"
#include "tests/app/live/panel_test.hpp"
#include "tests/kit/cascades.hpp"
#include "tests/kit/eventually.hpp"

namespace facesat::app {
namespace {

using test::eventually;

constexpr const char* begun =
    "{\"event\":\"message\",\"text\":\"90 positives\"}\n"
    "{\"event\":\"stage\",\"stage\":0,\"positives\":90,\"negatives\":80,\"acceptance\":1.0}\n"
    "{\"event\":\"tree\",\"stage\":0,\"tree\":1,\"hit_rate\":1.0,\"false_alarms\":0.9,"
    "\"seconds\":0.1}\n";
constexpr const char* ended =
    "{\"event\":\"stage_end\",\"stage\":0,\"trees\":2,\"hit_rate\":0.99,\"false_alarms\":0.4,"
    "\"held_out\":{\"hit_rate\":0.98,\"false_alarms\":0.5},\"seconds\":0.2}\n";
constexpr const char* second =
    "{\"event\":\"stage\",\"stage\":1,\"positives\":89,\"negatives\":80,\"acceptance\":0.25}\n";

class TrainingLogTest : public test::ProgramTest {
 protected:
  void append(const std::string& text) const {
    std::ofstream(folder / "log.jsonl", std::ios::app) << text;
  }
  TrainingLog log{folder / "log.jsonl"};
};

TEST_F(TrainingLogTest, IsFollowedWhileItGrows) {
  EXPECT_FALSE(log.read());  // there is none
  append(begun);
  EXPECT_TRUE(log.read());
  EXPECT_FALSE(log.read());
  EXPECT_EQ(log.message(), "90 positives");
  ASSERT_EQ(log.stages().size(), 1u);
  const LoggedStage& stage = log.stages()[0];
  EXPECT_EQ(stage.positives, 90u);
  EXPECT_EQ(stage.negatives, 80u);
  EXPECT_EQ(stage.trees, 1);
  EXPECT_EQ(stage.rates.false_alarm, 0.9);
  EXPECT_FALSE(stage.is_complete);
  // A line that is written in two parts.
  const std::string line = ended;
  append(line.substr(0, 50));
  EXPECT_FALSE(log.read());
  append(line.substr(50) + second);
  EXPECT_TRUE(log.read());
  ASSERT_EQ(log.stages().size(), 2u);
  EXPECT_EQ(log.stages()[0].trees, 2);
  EXPECT_TRUE(log.stages()[0].is_complete);
  EXPECT_EQ(log.stages()[0].positives, 90u);
  EXPECT_EQ(log.stages()[0].held_out->hit_rate, 0.98);
  EXPECT_EQ(log.stages()[1].acceptance, 0.25);
}

TEST_F(TrainingLogTest, ThatIsReplacedIsReadAnew) {
  append(std::string(begun) + ended + second);
  EXPECT_TRUE(log.read());
  write_text("log.jsonl", begun);
  EXPECT_TRUE(log.read());
  ASSERT_EQ(log.stages().size(), 1u);
  EXPECT_FALSE(log.stages()[0].is_complete);
}

TEST_F(TrainingLogTest, DamagedLinesAreLeftOut) {
  append(std::string("{\"event\":\"stage\",\"stage\":-1}\nnonsense\n\n[]\n{\"event\":\"tree\"}\n"
                     "{\"event\":\"stage\",\"stage\":99999999999}\n") +
         begun);
  EXPECT_TRUE(log.read());
  EXPECT_EQ(log.stages().size(), 1u);
}

class TrainingPanelTest : public test::OnePanelTest {
 protected:
  TrainingPanelTest() : OnePanelTest(make_training_panel()) {
    write_text("c.xml", to_xml(test::half_cascade({24, 24}, 1, 0, 1)));
    choices.settings.cascades = {"frontalface_default", path("c.xml")};
  }
  // Whether the panel asks to read cascades anew, within some seconds.
  bool asks_for_cascades() {
    context.wishes = {};
    return eventually([&] {
      panel->begin(context);
      return context.wishes.cascades;
    });
  }
  bool appears() {
    return eventually([&] {
      panel->begin(context);
      return panel->is_wanted(context);
    });
  }
  void append(const std::string& text) const {
    std::ofstream(folder / "c.xml.training/log.jsonl", std::ios::app) << text;
  }
};

TEST_F(TrainingPanelTest, FollowsTheCascadeThatIsTrained) {
  panel->begin(context);
  EXPECT_FALSE(panel->is_wanted(context));
  write_text("c.xml.training/log.jsonl", begun);
  ASSERT_TRUE(appears());
  const int before = drawn();
  append(std::string(ended) + second);
  EXPECT_TRUE(asks_for_cascades());
  EXPECT_GT(drawn(), before);
  EXPECT_FALSE(wishes_after("detect with the newest stages").cascades);
  const int shown = drawn();
  append(
      "{\"event\":\"stage_end\",\"stage\":1,\"trees\":3,\"hit_rate\":1.0,\"false_alarms\":0.4,"
      "\"seconds\":0.2}\n");
  EXPECT_TRUE(eventually([&] {
    panel->begin(context);
    return drawn() != shown;
  }));
  EXPECT_FALSE(context.wishes.cascades);
  EXPECT_TRUE(wishes_after("detect with the newest stages").cascades);
  // Another cascade has none.
  choices.settings.cascades = {"frontalface_default"};
  EXPECT_TRUE(eventually([&] {
    panel->begin(context);
    return !panel->is_wanted(context);
  }));
}

class ReloadTest : public test::FaceTest {};

TEST_F(ReloadTest, CascadesAreReadAnew) {
  write_text("c.xml", to_xml(test::half_cascade({24, 24}, 1, 0, 1)));
  Detection detection(test::cpu_settings({path("c.xml")}), [] {});
  const std::size_t before = test::result_of(detection, face()).evaluated;
  EXPECT_GT(before, 0u);
  write_text("c.xml", "this is no cascade");
  detection.reload_cascades();
  const LiveResult after = test::next_result(detection);
  EXPECT_TRUE(test::has(after.message, "c.xml")) << after.message;
}

}  // namespace
}  // namespace facesat::app
