// The settings of the window, and the file that keeps them from one run to the next.
#include "app/live/settings_file.hpp"
#include "kernels/device/gpu_info.hpp"
#include "tests/app/live/panel_test.hpp"
#include "tests/kit/cascades.hpp"
#include "tests/kit/program.hpp"

namespace facesat::app {
namespace {

class SettingsFile : public test::ProgramTest {
 protected:
  // What is read from the file of these settings.
  Remembered kept(const Remembered& chosen, const Remembered& otherwise = {}) const {
    test::write_settings(folder / "new/live.json", chosen);
    return test::read_settings(folder / "new/live.json", otherwise);
  }
};

TEST_F(SettingsFile, RemembersAllChoices) {
  Remembered chosen;
  chosen.settings.backend = {BackendChoice::cpu, "1", ""};
  chosen.settings.cascades = {"lbp:frontalface", "eye"};
  chosen.settings.detect = {1.25, 7, {30, 40}, {300, 400}, Scan::dense, true};
  chosen.settings.detect.inside_of = "eye";
  chosen.dark = chosen.labels = false;
  chosen.font_size = 21;
  const Remembered read = kept(chosen);
  EXPECT_EQ(read.settings.backend, chosen.settings.backend);
  EXPECT_EQ(read.settings.cascades, chosen.settings.cascades);
  EXPECT_EQ(read.settings.detect, chosen.settings.detect);
  EXPECT_EQ(read.settings.detect.inside_of, "eye");
  EXPECT_FALSE(read.dark);
  EXPECT_FALSE(read.labels);
  EXPECT_EQ(read.font_size, 21);
}

// A panel that remembers something of its own.
class CountingPanel final : public Panel {
 public:
  CountingPanel() : Panel("counter") {}
  void draw(PanelContext&) override {}
  void remember(const Remembered&, nlohmann::ordered_json& file) const override {
    file["count"] = count;
  }
  void recall(const nlohmann::ordered_json& file, Remembered&) override {
    count = file.at("count").get<int>();
  }
  int count = 0;
};

TEST_F(SettingsFile, PanelsRememberWhatTheyHaveOfTheirOwn) {
  const auto with_count = [](int count) {
    Panels panels = make_panels();
    auto panel = std::make_unique<CountingPanel>();
    panel->count = count;
    panels.push_back(std::move(panel));
    return panels;
  };
  write_settings(folder / "a.json", {}, with_count(7));
  Panels panels = with_count(0);
  read_settings(folder / "a.json", {}, panels);
  EXPECT_EQ(static_cast<const CountingPanel&>(*panels.back()).count, 7);
  write_text("bad.json", "{");
  read_settings(folder / "bad.json", {}, panels);
  EXPECT_EQ(panels.size(), make_panels().size());  // all are new
}

TEST_F(SettingsFile, TheFirstCascadeIsTheOuterOneInFilesOfEarlierVersions) {
  Remembered chosen;
  chosen.settings.cascades = {"eye", "smile"};
  test::write_settings(folder / "a.json", chosen);
  write_text("a.json",
             test::replaced(read_text("a.json"), "\"inside_of\": \"\"", "\"inside\": true"));
  EXPECT_EQ(test::read_settings(folder / "a.json", {}).settings.detect.inside_of, "eye");
}

TEST(LiveSettings, CascadesKeepTheirColours) {
  LiveSettings settings;
  for (const char* name : {"a", "b", "c"}) settings.choose(name);
  EXPECT_EQ(settings.colour_of("c"), 2u);
  settings.detect.inside_of = "b";
  settings.unchoose("a");
  EXPECT_EQ(settings.cascades, (std::vector<std::string>{"b", "c"}));
  EXPECT_EQ(settings.colour_of("b"), 1u);
  EXPECT_EQ(settings.colour_of("c"), 2u);
  EXPECT_EQ(settings.detect.inside_of, "b");
  settings.choose("a");  // its colour was not needed
  EXPECT_EQ(settings.colour_of("a"), 0u);
  settings.unchoose("a");
  settings.choose("d");
  EXPECT_EQ(settings.colour_of("d"), 0u);
  settings.choose("a");
  EXPECT_EQ(settings.colour_of("a"), 3u);
  settings.unchoose("b");
  EXPECT_EQ(settings.detect.inside_of, "");  // there is nothing to search inside of
}

// Settings may come without colours: the default cascade does.
TEST(LiveSettings, CascadesWithoutColoursKeepTheirs) {
  LiveSettings settings;
  settings.cascades = {"a"};
  EXPECT_EQ(settings.colour_of("a"), 0u);
  settings.choose("b");
  EXPECT_EQ(settings.colour_of("a"), 0u);
  EXPECT_EQ(settings.colour_of("b"), 1u);
  EXPECT_EQ(settings.cascade_of_colour(0), 0u);
  EXPECT_EQ(settings.cascade_of_colour(1), 1u);
}

// What was there when it was chosen and is not there now is left out; the other choices stay.
TEST_F(SettingsFile, MissingAlgorithmsAndCascadesAreDropped) {
  Remembered chosen, otherwise;
  chosen.settings.backend.sat = "nosuch_2099";
  chosen.settings.cascades = {"eye", "nose_ring"};
  chosen.settings.detect.min_neighbors = 7;
  otherwise.settings.cascades = {"smile"};
  const Remembered read = kept(chosen, otherwise);
  EXPECT_EQ(read.settings.backend.sat, "");
  EXPECT_EQ(read.settings.cascades, (std::vector<std::string>{"eye"}));
  EXPECT_EQ(read.settings.detect.min_neighbors, 7);

  chosen.settings.cascades.clear();  // all were unticked: there would be nothing to look for
  EXPECT_EQ(kept(chosen, otherwise).settings.cascades, (std::vector<std::string>{"smile"}));
}

TEST_F(SettingsFile, CudaIsNotChosenWhereThereIsNone) {
  if (!gpu::devices().empty()) GTEST_SKIP() << "skipped: there is a GPU";
  Remembered chosen;
  chosen.settings.backend.choice = BackendChoice::cuda;
  chosen.settings.cascades = {"eye"};
  EXPECT_EQ(kept(chosen).settings.backend.choice, BackendChoice::automatic);
}

TEST_F(SettingsFile, InvalidSettingsAreIgnored) {
  Remembered otherwise;
  otherwise.settings.cascades = {"eye"};
  test::write_settings(folder / "good.json", otherwise);
  const std::string good = read_text("good.json");
  otherwise.settings.cascades = {"smile"};
  const auto first_in = [&](const char* file) {
    return test::read_settings(folder / file, otherwise).settings.cascades.front();
  };
  using test::replaced;
  for (const std::string& text :
       {std::string(), std::string("{"), std::string("[1,2]"), good.substr(0, good.size() / 2),
        replaced(good, "1.1", "0.5"), replaced(good, "\"eye\"", "\"nose_ring\""),
        replaced(good, "true", "\"yes\"")}) {
    write_text("bad.json", text);
    EXPECT_EQ(first_in("bad.json"), "smile") << text;
  }
  EXPECT_EQ(first_in("missing.json"), "smile");
  EXPECT_EQ(first_in("good.json"), "eye");
}

}  // namespace
}  // namespace facesat::app
